"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from solver_ref.errors import InputError


def replace_text(
    path: str | PathLike[str], text: str, *, error: type[InputError] = InputError
) -> None:
    """Put `text` in the place of `path`, which a link or a device keeps being.

    The text goes to a file beside it, which then takes its place. Raises `error` where that cannot
    be.
    """
    place = Path(path).resolve()
    draft = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8", newline="")
            return
        try:
            draft.write_text(text, encoding="utf-8", newline="")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise error(
            str(path), "file", wrong="cannot be written", expected="a writable path", got=reason
        ) from None


@contextmanager
def filled(directory: Path) -> Iterator[Path]:
    """A scratch directory whose files, those in folders too, move into `directory` at the end.

    Where the body is interrupted or raises, nothing moves. Files of the same names are replaced,
    others stay.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".kinegate-") as aside:
        yield Path(aside)
        directory.mkdir(exist_ok=True)
        for file in sorted(path for path in Path(aside).rglob("*") if path.is_file()):
            place = directory / file.relative_to(aside)
            place.parent.mkdir(exist_ok=True)
            os.replace(file, place)
