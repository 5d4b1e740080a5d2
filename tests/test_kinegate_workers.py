"""Tasks on processes, threads and a Dask cluster: all of them, in order; and what is lost."""

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from dask.distributed import Client

import kinegate
from kinegate import cluster
from kinegate.workers import run_tasks

SWEEP = {"Rb": (4.0, 9.0, 8), "Rm": (0.3, 1.0, 5)}


def double(number):
    return 2 * number


def die_at_five(number):
    if number == 5:
        time.sleep(2)
        os._exit(1)
    return number


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"jobs": 3, "threads": True}])
def test_results_come_in_the_order_of_the_tasks(options):
    said = []
    found = run_tasks(double, range(9), report=lambda *step: said.append(step), what="w", **options)
    assert found == [2 * number for number in range(9)]
    assert said == [(number, 9, "w") for number in range(1, 10)]


@pytest.mark.parametrize("options", [{}, {"jobs": 2, "threads": True}])
def test_an_error_of_a_task_is_raised(options):
    with pytest.raises(TypeError):
        run_tasks(double, [1, None, 3], **options)


def test_what_a_dead_process_leaves_is_kept():
    found = run_tasks(die_at_five, range(6), jobs=2)
    assert found == [0, 1, 2, 3, 4, None]


def test_an_interrupt_does_not_wait_for_what_is_left():
    def interrupted(number, total, what):
        if number == 2:
            raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(time.sleep, [0.0, 300.0, 300.0], jobs=2, report=interrupted)
    while multiprocessing.active_children() and time.monotonic() - begin < 120:
        time.sleep(0.1)
    assert multiprocessing.active_children() == []


class Cluster:
    """A scheduler and two workers, each a process of its own that nobody restarts."""

    def __init__(self, folder):
        self.found = folder / "scheduler.json"
        words = ["--port", "0", "--host", "127.0.0.1", "--scheduler-file", self.found]
        self.scheduler = start_dask("scheduler", *words)
        self.workers = []

    def address(self):
        begin = time.monotonic()
        while time.monotonic() - begin < 90:
            with contextlib.suppress(OSError, ValueError):
                return json.loads(self.found.read_text())["address"]
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not start")

    def start_workers(self):
        words = [self.address(), "--nthreads", "1", "--no-nanny"]
        self.workers = [start_dask("worker", *words) for _ in range(2)]
        with Client(self.address(), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=90)

    def kill(self, count):
        for worker in self.workers[:count]:
            worker.kill()
            worker.wait()

    def end(self):
        self.kill(2)
        self.scheduler.kill()
        self.scheduler.wait()


def start_dask(what, *words):
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, "--no-dashboard"]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def two_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster = Cluster(tmp_path)
    try:
        cluster.start_workers()
        yield cluster
    finally:
        cluster.end()


def test_a_sweep_on_a_cluster_is_the_same_though_a_worker_is_killed(two_workers, tmp_path):
    def kill_one(number, total, text):
        if number == 2:
            two_workers.kill(1)

    words = {"sweep": SWEEP, "samples": 64}
    here = kinegate.workspace("four-cable", "here", **words)
    there = kinegate.workspace(
        "four-cable", "there", scheduler=two_workers.address(), report=kill_one, **words
    )
    assert there["ok"] and there["lost"] == 0
    assert there["columns"] == here["columns"]
    texts = [(tmp_path / name / "sweep.csv").read_text() for name in ("here", "there")]
    assert texts[0] == texts[1]


def test_what_was_computed_is_kept_when_no_worker_is_left(two_workers, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 2)

    def kill_all(number, total, text):
        if number == 4:
            two_workers.kill(2)

    found = kinegate.workspace(
        "four-cable",
        "out",
        sweep={"Rb": (4.0, 9.0, 20), "Rm": (0.3, 1.0, 20)},
        samples=256,
        scheduler=two_workers.address(),
        report=kill_all,
    )
    assert not found["ok"] and not found["complete"]
    assert 0 < found["lost"] < found["designs"] == 400
    with np.load(tmp_path / "out" / "sweep.npz") as arrays:
        assert np.isfinite(arrays["reach"]).sum() == 400 - found["lost"]
    text = (tmp_path / "out" / "sweep.csv").read_text()
    assert text.count("its worker was lost") == found["lost"]


def test_a_map_is_computed_on_a_cluster_too(two_workers):
    there = kinegate.workspace("planar4", grid=[9], scheduler=two_workers.address())
    assert there["quantities"] == kinegate.workspace("planar4", grid=[9])["quantities"]
