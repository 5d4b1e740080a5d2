"""Files of pictures and films: written whole or not at all, the same for the same figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from hdl.toolrun import ToolMissing
from kinegate.pictures.style import DPI, SETTINGS
from solver_ref.errors import InputError

FILMS = (".gif", ".mp4")


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the path's suffix."""
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
    with _replacing(path) as draft, matplotlib.rc_context(SETTINGS):
        figure.savefig(draft, dpi=DPI, metadata=metadata)


def save_film(
    figure: Figure, path: Path, frames: int, draw: Callable[[int], None], *, rate: float
) -> None:
    """Write an animated GIF or MP4, by the path's suffix.

    `draw` fills the figure, which is empty, for each frame; `rate`: frames a second. ToolMissing
    where a film needs ffmpeg and there is none.
    """
    writer = _writer(path, rate)
    with _replacing(path) as draft, matplotlib.rc_context(SETTINGS):
        with writer.saving(figure, str(draft), dpi=DPI * 0.75):
            for frame in range(frames):
                figure.clear()
                draw(frame)
                writer.grab_frame()


def check_writer(path: Path) -> None:
    """Raise ToolMissing now where the film could not be written later."""
    if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise ToolMissing(
            f"{path}: an MP4 film needs ffmpeg, which is not installed; install it, or name a .gif"
        )


def _writer(path: Path, rate: float) -> AbstractMovieWriter:
    check_writer(path)
    return FFMpegWriter(fps=rate) if path.suffix.lower() == ".mp4" else PillowWriter(fps=rate)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside `path`, of the same suffix, that takes its place when all went well."""
    draft = path.with_name(f".{path.stem}.tmp{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            path, "file", wrong="cannot be written", expected="a writable path", got=reason
        ) from None
    finally:
        draft.unlink(missing_ok=True)
