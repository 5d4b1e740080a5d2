"""The host's end of a serial link to a kernel on a board (`hdl.serial_map`).

with open_port("/dev/ttyUSB0", baud=1_000_000) as port:
    host = SerialHost(port, design.serial)
    host.identify()
    outputs = host.solve(codes)
"""

from __future__ import annotations

import struct
import sys
from binascii import crc_hqx
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from hdl.serial_map import (
    IDENTITY,
    IDENTITY_WORDS,
    OVERHEAD,
    REFUSALS,
    SYNC,
    VERSION,
    WORD_BYTES,
    Kind,
    Refusal,
    SerialInterface,
)
from hdl.toolrun import ToolMissing

HEAD_BYTES = 4
CRC_BYTES = 2
SILENCE_S = 0.5
"""After which an answer does not come any more: far above what a solve and a USB bridge take, and
above the time after which the hardware gives up half a frame."""
ATTEMPTS = 4
WINDOW = 4
"""Requests that may be unanswered. More than one hides the time on the way; the kernel's input
holds one, so a slow kernel refuses some of more, and these are sent again."""
BABBLE = 1 << 16
"""Bytes without a frame after which nobody who speaks frames is there."""
SEQUENCES = 256
MOST_WINDOW = SEQUENCES // 2 - 1
"""So that a number that comes back late is never that of a newer request."""


class LinkError(RuntimeError):
    """The board does not answer, or is not the one that it should be; one line."""


class Port(Protocol):
    """What is needed of `serial.Serial`: `read` answers fewer bytes after a silence only."""

    @property
    def in_waiting(self) -> int: ...

    def read(self, size: int) -> bytes: ...

    def write(self, data: bytes) -> object: ...


class Frame(NamedTuple):
    kind: int
    sequence: int
    words: tuple[int, ...]


@dataclass
class Losses:
    """What went wrong on the line and was made good: requests that were sent again, silences,
    refusals by reason, bytes that were no frame's."""

    sent_again: int = 0
    silences: int = 0
    refusals: dict[str, int] = field(default_factory=dict)
    stray_bytes: int = 0


def open_port(path: str, *, baud: int, silence: float = SILENCE_S):
    """A serial port, a `serial.Serial`, from any path or URL that pyserial knows.

    ToolMissing without pyserial; OSError or ValueError where the port cannot be opened.
    """
    try:
        from serial import serial_for_url
    except ImportError:
        command = f"{sys.executable} -m pip install pyserial"
        raise ToolMissing(f"pyserial is not installed: {command}") from None
    return serial_for_url(path, baudrate=baud, timeout=silence, write_timeout=silence)


def frame_bytes(kind: int, sequence: int, words: tuple[int, ...] = ()) -> bytes:
    """A frame as it is on the line."""
    body = struct.pack(f"<BBB{len(words)}I", kind, sequence, len(words), *words)
    return bytes([SYNC]) + body + struct.pack(">H", crc_hqx(body, 0xFFFF))


class SerialHost:
    """A kernel behind a port.

    `interface` is the one that the hardware should have; `window` is how many requests may be
    unanswered, `attempts` how often one is sent before it is given up.
    """

    def __init__(
        self,
        port: Port,
        interface: SerialInterface,
        *,
        window: int = WINDOW,
        attempts: int = ATTEMPTS,
    ) -> None:
        if not 1 <= window <= MOST_WINDOW:
            raise ValueError(f"window must be between 1 and {MOST_WINDOW}, not {window}")
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts}")
        self.port, self.interface = port, interface
        self.window, self.attempts = window, attempts
        self.losses = Losses()
        self._buffer, self._sequence = bytearray(), 0
        self._counts = {
            Kind.IDENTITY: len(IDENTITY_WORDS),
            Kind.RESULT: len(interface.outputs.words),
            Kind.REFUSAL: 1,
        }

    def identify(self) -> None:
        """LinkError where nothing answers, or what answers is not the interface's design."""
        for _ in range(self.attempts):
            sequence = self._send(Kind.IDENTIFY)
            while (frame := self._receive()) is not None:
                if frame.kind == Kind.IDENTITY and frame.sequence == sequence:
                    self._compare(frame.words)
                    return
        raise LinkError("no kinegate design answers on this port")

    def _compare(self, words: tuple[int, ...]) -> None:
        said = dict(zip(IDENTITY_WORDS, words, strict=True))
        wanted = dict(zip(IDENTITY_WORDS, self.interface.identity, strict=True))
        if said["identity"] != IDENTITY:
            raise LinkError("what answers on this port is no kinegate design")
        if said["version"] >> 16 != VERSION[0] or said["version"] < wanted["version"]:
            got, need = (f"{v >> 16}.{v & 0xFFFF}" for v in (said["version"], wanted["version"]))
            raise LinkError(f"the board's frames have the version {got}, not {need}")
        for name in ("fields", "sizes", "design", "geometry"):
            if said[name] != wanted[name]:
                raise LinkError(
                    f"the board has another design: its digest of {name} is {said[name]:08x}, "
                    f"not {wanted[name]:08x}"
                )

    def solve(
        self,
        codes: Mapping[str, np.ndarray],
        *,
        tell: Callable[[int], None] = lambda answered: None,
    ) -> dict[str, np.ndarray]:
        """Output codes by field, int64 of shape (N,), from input codes of that shape.

        A row that gets no answer, or a refusal, is sent again; LinkError when that was in vain.
        ValueError for a code outside its format. `tell` hears how many rows are answered.
        """
        rows = self.interface.inputs.pack(codes)
        results = np.zeros((len(rows), self._counts[Kind.RESULT]), np.uint32)
        left, tries = deque(range(len(rows))), np.zeros(len(rows), int)
        under_way: dict[int, int] = {}  # rows by their sequence numbers
        answered, room = 0, self.window
        while left or under_way:
            while left and len(under_way) < room:
                row = left.popleft()
                tries[row] += 1
                under_way[self._send(Kind.SOLVE, tuple(rows[row].tolist()))] = row
            frame = self._receive()
            if frame is None:
                self.losses.silences += 1
                again, room = list(under_way.values()), self.window
                under_way.clear()
            elif frame.sequence not in under_way:
                continue  # the late answer of one that was sent again
            elif frame.kind == Kind.RESULT:
                results[under_way.pop(frame.sequence)] = frame.words
                answered, room = answered + 1, self.window
                tell(answered)
                continue
            else:
                self._note_refusal(frame)
                again = [under_way.pop(frame.sequence)]
                if frame.words == (Refusal.OVERRUN,) and under_way:
                    # The kernel is busy with those: no attempt is lost, but no more is sent before
                    # one of them is answered.
                    tries[again] -= 1
                    room = len(under_way)
            self.losses.sent_again += len(again)
            self._check_tries(again, tries, frame)
            left.extendleft(reversed(again))
        return self.interface.outputs.unpack(results)

    def _note_refusal(self, frame: Frame) -> None:
        counts, name = self.losses.refusals, _reason(frame)
        counts[name] = counts.get(name, 0) + 1

    def _check_tries(self, rows: list[int], tries: np.ndarray, frame: Frame | None) -> None:
        for row in rows:
            if tries[row] >= self.attempts:
                why = "it does not answer" if frame is None else f"it says: {_reason(frame)}"
                raise LinkError(f"row {row + 1} was sent {tries[row]} times to the board: {why}")

    def _send(self, kind: Kind, words: tuple[int, ...] = ()) -> int:
        """Sends a request and returns its number, which none before it had for long."""
        self._sequence = (self._sequence + 1) % SEQUENCES
        try:
            self.port.write(frame_bytes(kind, self._sequence, words))
        except OSError as error:
            raise LinkError(f"the port cannot be written: {error}") from None
        return self._sequence

    def _receive(self) -> Frame | None:
        """The next frame whose CRC is right; None after a silence."""
        budget = BABBLE
        while budget > 0:
            frame = self._parse()
            if frame is not None:
                return frame
            try:
                read = self.port.read(max(1, self.port.in_waiting))
            except OSError as error:
                raise LinkError(f"the port cannot be read: {error}") from None
            if not read:
                self.losses.stray_bytes += len(self._buffer)
                self._buffer.clear()
                return None
            self._buffer += read
            budget -= len(read)
        return None

    def _parse(self) -> Frame | None:
        """Takes a frame from the buffer, and what lies before it; None where there is none yet."""
        buffer = self._buffer
        while buffer:
            head = bytes(buffer[:HEAD_BYTES])
            plausible = head[0] == SYNC and (len(head) < 2 or head[1] in self._counts)
            if plausible and len(head) == HEAD_BYTES:
                plausible = head[3] == self._counts[head[1]]
                size = OVERHEAD + WORD_BYTES * head[3]
                if plausible and len(buffer) >= size:
                    body, crc = buffer[1 : size - CRC_BYTES], buffer[size - CRC_BYTES : size]
                    if crc_hqx(body, 0xFFFF) == int.from_bytes(crc, "big"):
                        words = struct.unpack_from(f"<{head[3]}I", buffer, HEAD_BYTES)
                        del buffer[:size]
                        return Frame(head[1], head[2], words)
                    plausible = False
            if plausible:
                return None  # the rest is to come
            del buffer[0]
            self.losses.stray_bytes += 1
        return None


def _reason(frame: Frame) -> str:
    return REFUSALS.get(frame.words[0], f"reason {frame.words[0]}")
