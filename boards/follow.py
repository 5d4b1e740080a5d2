"""Follows the log of a running tool: what it is busy with, while one waits for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Tell = Callable[[str], None]
"""Called with a few words on what the tool has begun or reached."""

PERIOD_S = 1.0


def quiet(text: str) -> None:
    """Tell nobody."""


@contextmanager
def following(log: Path, pattern: str, tell: Tell) -> Iterator[None]:
    """While the body runs, `tell` the first group of each new line of `log` that has `pattern`.

    The log may not exist yet, and the body may end at any time; a line is told once it is whole.
    `tell` is called from another thread.
    """
    ended = threading.Event()

    def follow() -> None:
        at = 0
        last = False
        while not last:
            last = ended.wait(PERIOD_S)
            if not log.exists():
                continue
            with log.open("rb") as file:
                file.seek(at)
                whole, newline, _ = file.read().rpartition(b"\n")
            at += len(whole) + len(newline)
            for line in whole.decode(errors="replace").splitlines():
                found = re.search(pattern, line)
                if found:
                    tell(found[1])

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
