"""Runs one external tool: output in a log file, no child left behind, failures that say why."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

TAIL_LINES = 15
POLL_S = 1.0


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
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Run `command` to its end with standard output and error in the file `log`.

    `env` is added to the environment. Once a second `stop` is asked: when it is true, the tool is
    ended and the answer is False, else the answer is True. Whatever interrupts the wait (Ctrl-C,
    SIGTERM, the timeout) ends the tool with everything it started; SIGTERM then becomes
    `SystemExit`. Raises `ToolError` on a non-zero exit or after `timeout` seconds, and
    `ToolMissing` when the program does not exist.
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
            code = _wait(child, timeout, stop)
        except subprocess.TimeoutExpired:
            raise ToolError(name, f"did not finish within {timeout:g} s", log) from None
        finally:
            _end_group(child)
    if code:
        raise ToolError(name, f"ended with status {code}", log)
    return code is not None


def _wait(
    child: subprocess.Popen[bytes], timeout: float | None, stop: Callable[[], bool] | None
) -> int | None:
    """The exit status of the child, or None once `stop` says so. Raises `TimeoutExpired`."""
    if stop is None:
        return child.wait(timeout)
    end = None if timeout is None else time.monotonic() + timeout
    while not stop():
        try:
            return child.wait(POLL_S)
        except subprocess.TimeoutExpired:
            if end is not None and time.monotonic() > end:
                raise
    return None


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
