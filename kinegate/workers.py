"""Many independent tasks: on all cores of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any, TypeVar

from kinegate.cluster import on_cluster
from kinegate.progress import Report, silent

Task, Result = TypeVar("Task"), TypeVar("Result")


def usable_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int = 1,
    threads: bool = False,
    scheduler: str | None = None,
    report: Report = silent,
    what: str = "",
) -> list[Result | None]:
    """The result of each task, in order; None for those that were lost with their worker.

    `jobs` processes of this machine, or with `threads` as many threads, for functions in which
    NumPy does the work without Python's lock. With `scheduler`, the address of a Dask scheduler,
    the workers of that cluster, which need this package. An error of a task is raised.
    """
    if scheduler is not None:
        finished = on_cluster(function, tasks, scheduler)
    elif jobs == 1 or len(tasks) == 1:
        finished = ((number, function(task)) for number, task in enumerate(tasks))
    else:
        finished = _here(function, tasks, jobs, threads)
    results: list[Result | None] = [None] * len(tasks)
    report(1, len(tasks), what)
    with closing(finished):
        for done, (number, result) in enumerate(finished, 2):
            results[number] = result
            if done <= len(tasks):
                report(done, len(tasks), what)
    return results


def _here(
    function: Callable[[Task], Result], tasks: Sequence[Task], jobs: int, threads: bool
) -> Iterator[tuple[int, Result]]:
    others = multiprocessing.active_children()
    with _pool(min(jobs, len(tasks)), threads) as pool:
        try:
            futures = {pool.submit(function, task): number for number, task in enumerate(tasks)}
            yield from _completed(futures)
        except BaseException:
            # After an error or an interrupt nobody waits for the rest.
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
            raise


def _completed(futures: dict[Future, int]) -> Iterator[tuple[int, Any]]:
    for future in as_completed(futures):
        try:
            yield futures[future], future.result()
        except BrokenProcessPool:
            continue


def _pool(jobs: int, threads: bool) -> ProcessPoolExecutor | ThreadPoolExecutor:
    if threads:
        return ThreadPoolExecutor(jobs)
    # Not by fork: the progress bar has a thread, and its locks would be copied as they are.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context)
