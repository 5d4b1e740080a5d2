"""The generated C driver, compiled for the host, behind ctypes."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from boards.drivers import c_driver
from boards.register_files import header_name, register_files
from sim.twin import compiler

STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wpedantic")
READ = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
NAMES = (
    "ok no_kernel wrong_version wrong_map wrong_design wrong_geometry out_of_range busy timeout "
    "refused no_load_port system"
).split()
"""Of the driver's errors, in their order."""


class Bus(ctypes.Structure):
    _fields_ = [("read32", ctypes.c_void_p), ("write32", ctypes.c_void_p)]
    _fields_ += [("context", ctypes.c_void_p)]


class Device(ctypes.Structure):
    _fields_ = [("bus", Bus), ("design", ctypes.c_void_p), ("patience", ctypes.c_uint32)]


class Uio(ctypes.Structure):
    _fields_ = [("file", ctypes.c_int), ("registers", ctypes.c_void_p)]


class Observation(ctypes.Structure):
    _fields_ = [("cycles", ctypes.c_uint64), ("results", ctypes.c_uint32)]
    _fields_ += [("failures", ctypes.c_uint32), ("said", ctypes.c_uint32 * 9)]
    _fields_ += [
        (name, ctypes.c_uint32)
        for name in (
            "short_packets long_packets null_bytes unfit latency_last latency_min latency_max "
            "status_last iterations_last iterations_max residual_last residual_max"
        ).split()
    ]


def write_driver(folder: Path, axi) -> None:
    """The C files and the register header of a axi."""
    header = header_name(axi)
    made = register_files(axi, vendor="kinegate", version="1.0")
    for name, text in ({header: made[header]} | c_driver(axi, "a test")).items():
        (folder / name).write_text(text)


def compiled(folder: Path, name: str, flags=STRICT, command=None) -> Path:
    """A shared library of the driver in a folder."""
    sources = [folder / file for file in ("kinegate.c", "kinegate_uio.c", f"{name}_design.c")]
    library = folder / "driver.so"
    words = [*(command or compiler()), *flags, "-shared", "-fPIC", *sources, "-o", library]
    subprocess.run(words, check=True)
    return library


class CDriver:
    """The driver of the design `name` on a bus: addresses of C functions, and their context."""

    def __init__(self, library: Path, name: str, inputs: int, outputs: int) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.kg_error_text.restype = ctypes.c_char_p
        self._counts = inputs, outputs
        self.design = ctypes.c_byte.in_dll(self._library, f"{name}_design")
        self.device = Device()

    def open(self, accesses: tuple[int, int], context, geometry: int) -> str:
        """Returns the name of the error."""
        bus = Bus(*accesses, context)
        call = self._library.kg_open
        design = ctypes.byref(self.design)
        error = call(ctypes.byref(self.device), design, bus, ctypes.c_uint32(geometry))
        return NAMES[error]

    def open_file(self, path: Path, geometry: int) -> str:
        """The same on a file that maps the registers, through the functions for UIO."""
        uio = Uio()
        error = self._library.kg_uio_open(ctypes.byref(uio), str(path).encode())
        if error:
            return NAMES[error]
        self._library.kg_uio_bus.restype = Bus
        bus = self._library.kg_uio_bus(ctypes.byref(uio))
        return self.open((bus.read32, bus.write32), bus.context, geometry)

    def solve(self, inputs) -> tuple[str, list[int], int]:
        """The error, the outputs' codes and the cycles."""
        given = np.array([int(code) for code in inputs], np.int64)
        found = np.zeros(self._counts[1], np.int64)
        cycles = ctypes.c_uint32()
        error = self._library.kg_solve(
            ctypes.byref(self.device),
            ctypes.c_void_p(given.ctypes.data),
            ctypes.c_void_p(found.ctypes.data),
            ctypes.byref(cycles),
        )
        return NAMES[error], found.tolist(), cycles.value

    def observe(self) -> Observation:
        seen = Observation()
        self._library.kg_observe(ctypes.byref(self.device), ctypes.byref(seen))
        return seen

    def call(self, function: str, *words: int) -> int:
        """A function of the device and of unsigned words."""
        arguments = [ctypes.c_uint32(word) for word in words]
        return getattr(self._library, function)(ctypes.byref(self.device), *arguments)

    def load_geometry(self, words) -> str:
        given = np.array(words, np.uint32)
        place = ctypes.c_void_p(given.ctypes.data)
        call = self._library.kg_load_geometry
        return NAMES[call(ctypes.byref(self.device), place, ctypes.c_size_t(len(given)))]

    def stream_words(self, inputs) -> np.ndarray:
        """What the driver packs of one transfer."""
        given, words = np.array(inputs, np.int64), np.zeros(256, np.uint32)
        error = self._library.kg_pack(
            ctypes.byref(self.design),
            ctypes.c_void_p(given.ctypes.data),
            ctypes.c_void_p(words.ctypes.data),
        )
        assert NAMES[error] == "ok"
        return words

    def unpacked(self, words: np.ndarray) -> list[int]:
        found = np.zeros(self._counts[1], np.int64)
        given = np.ascontiguousarray(words, np.uint32)
        self._library.kg_unpack(
            ctypes.byref(self.design),
            ctypes.c_void_p(given.ctypes.data),
            ctypes.c_void_p(found.ctypes.data),
        )
        return found.tolist()
