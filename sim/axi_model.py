"""A design's AXI shell, verilated, as something whose registers can be read and written.

Drivers, in C and in Python, run against it as against a board: it offers the accesses of a PYNQ
`MMIO`, and the functions that a C driver's bus needs.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from sim.tools import verilated_library

HARNESS = Path(__file__).with_name("axi_model.cpp")


class AxiModel:
    """The module `top` of a Verilog file after a reset; clock cycles pass while it is accessed.

    `beat_bits` is that of its streams.
    """

    def __init__(self, verilog: Path, top: str, build_dir: Path, *, beat_bits: int = 32) -> None:
        self._library = ctypes.CDLL(str(verilated_library(verilog, top, HARNESS, build_dir)))
        self._words = beat_bits // 32
        self._library.kg_model_new.restype = ctypes.c_void_p
        for name in ("read", "response", "interrupt"):
            getattr(self._library, f"kg_model_{name}").restype = ctypes.c_uint32
        self._library.kg_model_stream.restype = ctypes.c_size_t
        self.handle = ctypes.c_void_p(self._library.kg_model_new())

    def close(self) -> None:
        """Frees the model."""
        self._library.kg_model_delete(self.handle)

    def read(self, offset: int) -> int:
        return self._library.kg_model_read(self.handle, ctypes.c_uint32(offset))

    def write(self, offset: int, word: int) -> None:
        self._library.kg_model_write(
            self.handle, ctypes.c_uint32(offset), ctypes.c_uint32(word & 0xFFFFFFFF)
        )

    @property
    def response(self) -> int:
        """Of the last access: 0 OKAY, 2 SLVERR, 4 where none came."""
        return self._library.kg_model_response(self.handle)

    @property
    def interrupt(self) -> int:
        return self._library.kg_model_interrupt(self.handle)

    def run(self, cycles: int) -> None:
        self._library.kg_model_run(self.handle, ctypes.c_uint32(cycles))

    @property
    def accesses(self) -> tuple[int, int]:
        """Addresses of the C functions that read and write a word, whose context is `handle`."""
        functions = (self._library.kg_model_read, self._library.kg_model_write)
        return tuple(ctypes.cast(function, ctypes.c_void_p).value for function in functions)

    def stream(self, sent: np.ndarray, wanted: int) -> tuple[np.ndarray, int]:
        """Send words as one packet and take up to `wanted` words; the words that came, and how many
        of their beats ended a packet."""
        sent = np.ascontiguousarray(sent, np.uint32).ravel()
        taken, ends = np.zeros(wanted, np.uint32), ctypes.c_size_t()
        beats = self._library.kg_model_stream(
            self.handle,
            ctypes.c_void_p(sent.ctypes.data),
            ctypes.c_size_t(len(sent) // self._words),
            ctypes.c_void_p(taken.ctypes.data),
            ctypes.c_size_t(wanted // self._words),
            ctypes.byref(ends),
        )
        return taken[: beats * self._words], ends.value
