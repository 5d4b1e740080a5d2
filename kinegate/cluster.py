"""Tasks on the workers of an existing Dask cluster; what workers that died computed is kept."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from kinegate.designs import OptionError

Task, Result = TypeVar("Task"), TypeVar("Result")

CONNECT_SECONDS = 10
PATIENCE_SECONDS = 15
"""How long a cluster may be without any worker before its open tasks are given up."""


def on_cluster(
    function: Callable[[Task], Result], tasks: Sequence[Task], address: str
) -> Iterator[tuple[int, Result]]:
    """The number of each task and its result, as they come.

    Dask itself gives the tasks of a dead worker to another one. Left out are tasks that killed
    several workers, and those that are open when there has been no worker for a while.
    """
    with _client(address) as client:
        yield from _gathered(client, function, tasks)


def _client(address: str) -> Any:
    try:
        from dask.distributed import Client
    except ImportError:
        raise _refused(
            address,
            wrong="needs Dask",
            expected="an installation with it: pip install 'kinegate[cluster]'",
            got="none",
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _refused(
            address,
            wrong="cannot be reached",
            expected="the address of a Dask scheduler, such as tcp://host:8786",
            got=type(error).__name__,
        ) from None


def _gathered(
    client: Any, function: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    from dask.distributed import CancelledError, KilledWorker

    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    numbers = {}
    for number, task in enumerate(tasks):
        future = client.submit(function, task, pure=False)
        numbers[future] = number
        future.add_done_callback(done.put)
    without_worker = 0
    while numbers and without_worker < PATIENCE_SECONDS:
        try:
            future = done.get(timeout=1)
            result = future.result(timeout=1)
        except queue.Empty:
            without_worker = 0 if _has_workers(client) else without_worker + 1
            continue
        except TimeoutError:
            # What was computed died with its worker before it was fetched; Dask computes it anew.
            if future.status == "error":
                raise
            without_worker = 0 if _has_workers(client) else without_worker + 1
            done.put(future)
            continue
        except (KilledWorker, CancelledError):
            numbers.pop(future)
            continue
        without_worker = 0
        yield numbers.pop(future), result


def _has_workers(client: Any) -> bool:
    return client.status == "running" and bool(client.scheduler_info()["workers"])


def _refused(address: str, *, wrong: str, expected: str, got: str) -> OptionError:
    return OptionError(address, "scheduler", wrong=wrong, expected=expected, got=got)
