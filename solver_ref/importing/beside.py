"""Files that a source names or that lie beside it, found whatever the case of their names."""

from __future__ import annotations

from pathlib import Path

from solver_ref.errors import InputError, shown


def existing(path: Path) -> Path | None:
    """The file or directory that `path` means: exactly, or else the only one but for case.

    Each part of the path may differ in case from the name on disk. None where there is none;
    InputError where several differ in case alone, or the path cannot be looked at.
    """
    try:
        if path.exists():
            return path
        parent = existing(path.parent) if path.parent != path else None
        entries = list(parent.iterdir()) if parent is not None and parent.is_dir() else []
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            shown(str(path)), "file", wrong="cannot be read", expected="a path", got=reason
        ) from None
    wanted = path.name.casefold()
    found = sorted(entry for entry in entries if entry.name.casefold() == wanted)
    if len(found) > 1:
        raise InputError(
            path,
            "file",
            wrong="fits several files",
            expected="a name that differs from one of them in case alone",
            got=", ".join(entry.name for entry in found),
        )
    return found[0] if found else None


def contents(path: Path, expected: str) -> bytes:
    """The bytes of the file that `path` means; `expected` says what should be there."""
    place = existing(path)
    if place is None:
        raise InputError(path, "file", wrong="is missing", expected=expected, got="no such file")
    try:
        return place.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            path, "file", wrong="cannot be read", expected=expected, got=reason
        ) from None
