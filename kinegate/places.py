"""Directories that a command is to write into."""

from __future__ import annotations

import os
from pathlib import Path

from solver_ref.errors import InputError


def check_place(place: Path) -> None:
    """Whether a directory can be made or written to, before the work begins."""
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    if not there.is_dir():
        raise no_place(place, f"{there}, which is no directory")
    if not os.access(there, os.W_OK):
        raise no_place(place, f"{there}, which is read-only")


def no_place(place: Path, got: str) -> InputError:
    expected = "a directory that can be made or written to"
    return InputError(place, "DIR", wrong="cannot be written", expected=expected, got=got)
