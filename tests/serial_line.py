"""Bits on a line in the Amaranth simulator, with a clock of their own, and toys behind a line."""

import struct
from binascii import crc_hqx

from toy_kernels import DelayPipeline, observed

from hdl.axi_map import Facts
from hdl.packing import Packing
from hdl.serial_map import SYNC, SerialInterface
from hdl.serial_shell import TAG_BITS, SerialShell
from hdl.shell import StreamKernel

CLOCK_HZ, BAUD = 8e6, 1e6
BIT = CLOCK_HZ / BAUD
FACTS = Facts(design=0x89ABCDEF, geometry=0xFEDCBA98)
NAME = "toy_uart"


def frame(kind, sequence=0, words=()):
    """A frame as its page says it, written without the hardware's constants but SYNC."""
    body = bytes([kind, sequence, len(words)]) + struct.pack(f"<{len(words)}I", *words)
    return bytes([SYNC]) + body + struct.pack(">H", crc_hqx(body, 0xFFFF))


def frames(data):
    """Kind, sequence number and words of each frame of what was heard, which holds nothing else."""
    found, at = [], 0
    while at < len(data):
        kind, sequence, count = data[at + 1 : at + 4]
        words = struct.unpack(f"<{count}I", data[at + 4 : at + 4 + 4 * count])
        length = 6 + 4 * count
        assert data[at : at + length] == frame(kind, sequence, words)
        found.append((kind, sequence, words))
        at += length
    return found


def levels(data, *, bit=BIT, stop=1):
    """The level of the line in each clock cycle for bytes whose bits take `bit` cycles each."""
    bits = [level for byte in data for level in (0, *(byte >> n & 1 for n in range(8)), stop)]
    ends = [round((number + 1) * bit) for number in range(len(bits))]
    starts = [0, *ends[:-1]]
    return [level for level, a, b in zip(bits, starts, ends, strict=True) for _ in range(b - a)]


def heard(line, *, bit=BIT):
    """The bytes on a line of which the level in each cycle is known; each has its stop bit."""
    data, at = bytearray(), 0
    while at < len(line):
        if line[at]:
            at += 1
            continue
        bits = [line[min(at + int((n + 0.5) * bit), len(line) - 1)] for n in range(10)]
        assert bits[0] == 0 and bits[9] == 1
        data.append(sum(level << n for n, level in enumerate(bits[1:9])))
        at += int(9.5 * bit)
    return bytes(data)


def toy_interface(graph=None, facts=FACTS):
    graph = graph or observed()
    sides = {"inputs": Packing(graph.inputs), "outputs": Packing(graph.output_formats)}
    return SerialInterface(name=NAME, facts=facts, **sides)


def toy_shell(graph=None, *, latency=5, ii=2, facts=FACTS):
    """A toy kernel behind a line of 8 cycles a bit."""
    graph = graph or observed()
    kernel = StreamKernel(DelayPipeline(graph, latency=latency, ii=ii), tag_width=TAG_BITS)
    return SerialShell(kernel, toy_interface(graph, facts), clock_hz=CLOCK_HZ, baud=BAUD)
