"""The stand-alone testbench of a kernel with an AXI shell: that of any kernel, around a peer.

The peer is a Verilog module with the ports of a stream kernel, written without the packing code of
the hardware, so that the two check each other.
"""

from __future__ import annotations

from pathlib import Path

from hdl.axi_map import AxiInterface
from hdl.packing import WORD_BITS, Packing
from hdl.testbench import filled, testbench

_TEMPLATE = Path(__file__).with_name("axi_peer_template.v")


def axi_testbench(
    axi: AxiInterface, *, tag_width: int, vectors: int, geometry_words: int = 0
) -> str:
    """Verilog-2001 text of `<name>_tb` and of `<name>_peer` inside it, for the module `<name>`."""
    name = axi.name
    bench = testbench(
        name,
        dut=f"{name}_peer",
        inputs=axi.inputs.fields,
        outputs=axi.outputs.fields,
        tag_width=tag_width,
        vectors=vectors,
        geometry_words=geometry_words,
    )
    place, loads = axi.registers.address, geometry_words > 0
    words = {
        "NAME": name,
        "TAG_BITS": tag_width,
        "BEAT_BITS": axi.inputs.beat_bits,
        "IN_BEATS": axi.inputs.beats,
        "OUT_BEATS": axi.outputs.beats,
        "IN_WORDS": ", ".join(word.name for word in axi.inputs.words),
        "OUT_WORDS": ", ".join(word.name for word in axi.outputs.words),
        "PORTS": _ports(axi),
        "PACKET": _packet(axi.inputs),
        "FIELDS": _fields(axi.outputs),
        "UNEXTENDED": _unextended(axi.outputs),
        "LITE": ", but for a geometry that is loaded" if loads else "",
        "ADDRESS": "address" if loads else "12'd0",
        "WDATA": "wdata" if loads else "32'd0",
        "AT_GEOMETRY": place("control", "geometry"),
        "AT_STATE": place("control", "state"),
        "AT_EVENT": place("control", "event"),
        "AT_ADDRESS": place("control", "geometry_address"),
        "AT_DATA": place("control", "geometry_data"),
        "FAULT": axi.registers["control"]["event"].part("geometry_fault").low,
    }
    for valid in ("awvalid", "wvalid", "arvalid"):
        words[valid.upper()] = valid if loads else "1'b0"
    return f"{bench}\n{filled(_TEMPLATE, words, geometry=loads)}"


def _ports(axi: AxiInterface) -> str:
    sides = (("input", "i", axi.inputs), ("output", "o", axi.outputs))
    return "\n".join(
        f"  {direction} [{form.width - 1}:0] {side}_{name},"
        for direction, side, packing in sides
        for name, form in packing.fields.items()
    )


def _packet(packing: Packing) -> str:
    """All words of a transfer, the first one lowest; what the fields leave on top is zero."""
    parts = []
    for name, form in packing.fields.items():
        room = -(-form.width // WORD_BITS) * WORD_BITS - form.width
        top = f"i_{name}[{form.width - 1}]" if form.signed else "1'b0"
        parts.append(f"{{{room}{{{top}}}}}, i_{name}" if room else f"i_{name}")
    return f"{{{', '.join(reversed(parts))}}}"


def _fields(packing: Packing) -> str:
    lines, at = [], 0
    for name, form in packing.fields.items():
        lines.append(f"  assign o_{name} = result[{at + form.width - 1}:{at}];")
        at += -(-form.width // WORD_BITS) * WORD_BITS
    return "\n".join(lines)


def _unextended(packing: Packing) -> str:
    """Whether the bits above a field are anything but its sign, or padding anything but zero."""
    found, at = [], 0
    for form in packing.fields.values():
        end = at + -(-form.width // WORD_BITS) * WORD_BITS
        high = at + form.width
        if high < end:
            top = f"result[{high - 1}]" if form.signed else "1'b0"
            found.append(f"result[{end - 1}:{high}] !== {{{end - high}{{{top}}}}}")
        at = end
    total = packing.beats * packing.beat_bits
    if at < total:
        found.append(f"result[{total - 1}:{at}] !== {total - at}'d0")
    return "\n    || ".join(found) or "1'b0"
