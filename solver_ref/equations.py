"""A user's own loop equations: the text of a Python file, run, and its faults told in one line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

FILE = "<mechanism>"
FUNCTIONS = ("constraints", "inverse", "links", "faults")
NEEDED = ("JOINTS", "constraints")


class EquationsError(ValueError):
    """Equations that cannot be run; the text says where and why, in one line."""


class Equations:
    """The names of a mechanism's file. Whatever a function of it raises is an `EquationsError`."""

    def __init__(self, text: str) -> None:
        self._names: dict[str, Any] = {"__name__": "mechanism"}
        with _telling():
            exec(compile(text, FILE, "exec"), self._names)
        missing = [name for name in NEEDED if name not in self._names]
        if missing:
            raise EquationsError(f"they define no {' and no '.join(missing)}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(name)
        found = self._names[name]
        return _told(found) if name in FUNCTIONS else found


@cache
def equations_of(text: str) -> Equations:
    """Of a file's text; EquationsError for one that cannot be run."""
    return Equations(text)


def _told(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    def run(*arguments: Any) -> list[Any]:
        with _telling():
            return list(function(*arguments))

    return run


@contextmanager
def _telling() -> Iterator[None]:
    """Turns any error of the user's code into one of the equations."""
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == FILE]
        if isinstance(error, SyntaxError) and error.filename == FILE:
            lines = [error.lineno]
        where = f"line {lines[-1]}: " if lines else ""
        raise EquationsError(f"{where}{type(error).__name__}: {error}") from None
