"""A design's serial shell, verilated, as a port that a host reads and writes.

Its bits are on `rx` and `tx` for as many clock cycles as on a board.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from sim.tools import verilated_library

HARNESS = Path(__file__).with_name("serial_model.cpp")


class SerialModel:
    """The module `top` of a Verilog file after a reset; time passes while it is read.

    `divider`: the clock cycles of a bit; `silence`: those without a byte after which a `read` gives
    up. It has what `boards.serial_host` needs of a `serial.Serial`.
    """

    def __init__(
        self, verilog: Path, top: str, build_dir: Path, *, divider: int, silence: int
    ) -> None:
        self._library = ctypes.CDLL(str(verilated_library(verilog, top, HARNESS, build_dir)))
        self._library.kg_line_new.restype = ctypes.c_void_p
        for name in ("read", "waiting"):
            getattr(self._library, f"kg_line_{name}").restype = ctypes.c_size_t
        self._silence = silence
        self._handle = ctypes.c_void_p(self._library.kg_line_new(ctypes.c_uint32(divider)))

    def close(self) -> None:
        """Frees the model."""
        self._library.kg_line_delete(self._handle)

    @property
    def in_waiting(self) -> int:
        return self._library.kg_line_waiting(self._handle)

    def read(self, size: int) -> bytes:
        """`size` bytes, or what came before a silence."""
        data = (ctypes.c_uint8 * size)()
        silence = ctypes.c_uint64(self._silence)
        count = self._library.kg_line_read(self._handle, data, ctypes.c_size_t(size), silence)
        return bytes(data[:count])

    def write(self, data: bytes) -> int:
        """Puts bytes on the line, one behind the other, once time passes."""
        self._library.kg_line_write(self._handle, bytes(data), ctypes.c_size_t(len(data)))
        return len(data)

    def run(self, cycles: int) -> None:
        """Lets time pass, whatever comes."""
        self._library.kg_line_run(self._handle, ctypes.c_uint64(cycles))
