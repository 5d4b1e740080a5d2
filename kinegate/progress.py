"""How far long work is: a bar on a terminal, plain lines elsewhere; always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Report = Callable[[int, int, str], None]
"""Called as `report(number, total, text)` when step `number` of `total` begins, from 1."""


def silent(number: int, total: int, text: str) -> None:
    """Report nothing."""


@contextmanager
def reporting(name: str) -> Iterator[Report]:
    """A `Report` that writes to stderr; `name` says what the work is for."""
    if not sys.stderr.isatty():

        def line(number: int, total: int, text: str) -> None:
            print(f"{name}: [{number}/{total}] {text}", file=sys.stderr, flush=True)

        yield line
        return
    columns = (SpinnerColumn(), BarColumn(20), TextColumn("{task.description}", markup=False))
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(name, total=1)

        def advance(number: int, total: int, text: str) -> None:
            bar.update(task, total=total, completed=number - 1, description=f"{name}: {text}")

        yield advance
