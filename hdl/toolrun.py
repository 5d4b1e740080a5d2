"""Runs one external tool: output in a log file, no child left behind, failures that say why."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

TAIL_LINES = 15


class ToolMissing(RuntimeError):
    """A tool is not installed. The message names it and how to install it."""


class ToolError(RuntimeError):
    """A tool failed. The message holds the last lines of its log; `log` is the whole file."""

    def __init__(self, name: str, status: str, log: Path) -> None:
        self.log = log
        tail = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        super().__init__("\n".join([f"{name} {status}; last lines of {log}:", *tail]))


def run_tool(
    command: Sequence[str | os.PathLike[str]],
    *,
    log: Path,
    name: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> None:
    """Run `command` to its end with standard output and error in the file `log`.

    `env` is added to the environment. Whatever interrupts the wait (Ctrl-C, SIGTERM, the timeout)
    ends the tool with everything it started; SIGTERM then becomes `SystemExit`. Raises `ToolError`
    on a non-zero exit or after `timeout` seconds, and `ToolMissing` when the program does not
    exist.
    """
    words = [os.fspath(word) for word in command]
    name = name or Path(words[0]).name
    with log.open("wb") as sink, _terminated_as_exit():
        try:
            child = subprocess.Popen(
                words,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise ToolMissing(f"{name} is not installed: {error}") from error
        try:
            code = child.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(child)
    if code is None:
        raise ToolError(name, f"did not finish within {timeout:g} s", log)
    if code:
        raise ToolError(name, f"ended with status {code}", log)


@contextmanager
def _terminated_as_exit() -> Iterator[None]:
    """Let SIGTERM unwind the stack, where nobody else handles it (only the main thread may ask)."""
    free = threading.current_thread() is threading.main_thread()
    if not free or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End the tool's process group; a no-op for a tool that ended and left nothing behind."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, None)):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    child.wait()
