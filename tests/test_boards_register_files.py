"""One register map: SystemRDL, C header, page and IP-XACT say the same as the hardware's map."""

import re
import subprocess
import xml.etree.ElementTree as ET

import pytest
from axi_toys import NAME, toy_interface, write_toy
from systemrdl import RDLCompiler, RDLListener, RDLWalker

from boards.register_files import register_files
from boards.systemrdl import systemrdl
from sim.twin import compiler

SPACE = "{http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009}"
READS = {"constant": "r", "read": "r", "write": "rw", "event": "rw", "command": "w"}


@pytest.fixture(scope="module")
def axi():
    return toy_interface()


@pytest.fixture(scope="module")
def files(axi):
    return register_files(axi, vendor="kinegate", version="1.0")


def places(axi):
    return {(b.name, r.name): b.base + r.offset for b, r in axi.registers}


class Listener(RDLListener):
    """Collects what SystemRDL's own compiler understands."""

    def __init__(self):
        self.found = {}

    def enter_Reg(self, node):
        fields = [
            (f.inst_name, f.low, f.width, f.get_property("reset"), f.get_property("sw").name)
            for f in node.fields()
        ]
        path = tuple(node.get_path_segments()[1:])
        self.found[path] = (node.absolute_address, node.get_property("desc"), fields)


def test_the_compiler_of_systemrdl_finds_the_map(axi, tmp_path):
    (tmp_path / "m.rdl").write_text(systemrdl(axi.registers))
    rdl = RDLCompiler()
    rdl.compile_file(str(tmp_path / "m.rdl"))
    listener = Listener()
    RDLWalker().walk(rdl.elaborate(), listener)
    expected = {
        (block.name, register.name): (
            block.base + register.offset,
            register.text,
            [(p.name, p.low, p.width, p.reset, READS[register.access]) for p in register.bits],
        )
        for block, register in axi.registers
    }
    assert listener.found == expected


def test_the_header_has_the_addresses_and_bits_of_the_map(axi, files, tmp_path):
    (tmp_path / "registers.h").write_text(files[f"{NAME}_registers.h"])
    lines = [
        f'printf("%zu\\n", offsetof({NAME}_t, {block}.{name}));' for block, name in places(axi)
    ]
    masks = {
        f"KINEGATE_{b.name}__{r.name}__{p.name}_bm".upper().replace("_BM", "_bm"): p
        for b, r in axi.registers
        for p in r.bits
        if b.common
    }
    lines += [f'printf("%llu\\n", (unsigned long long){macro});' for macro in masks]
    heads = "".join(f"#include <{name}>\n" for name in ("stddef.h", "stdio.h"))
    text = f'{heads}#include "registers.h"\nint main(void) {{\n{"".join(lines)}return 0; }}\n'
    (tmp_path / "main.c").write_text(text)
    subprocess.run([*compiler(), "-std=c11", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    told = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    expected = [*places(axi).values()]
    expected += [((1 << part.width) - 1) << part.low for part in masks.values()]
    assert [int(line) for line in told.split()] == expected


def test_the_page_has_the_addresses_of_the_map(axi, files):
    found = re.findall(r"### (\w+) register\n\n- Absolute Address: (\w+)", files["registers.md"])
    expected = [(name, place) for (_, name), place in places(axi).items()]
    assert [(name, int(place, 16)) for name, place in found] == expected


def test_ip_xact_has_the_ports_of_the_verilog_and_a_bus_for_each(axi, files, tmp_path):
    root = ET.fromstring(files["component.xml"])
    told = {}
    for port in root.iter(f"{SPACE}port"):
        left = port.find(f"{SPACE}wire/{SPACE}vector/{SPACE}left")
        width = int(left.text) + 1 if left is not None else 1
        direction = port.find(f"{SPACE}wire/{SPACE}direction").text
        told[port.find(f"{SPACE}name").text] = (f"{direction}put", width)
    body = write_toy(tmp_path).read_text().split("\nmodule toy_axi(", 1)[1].split("endmodule")[0]
    found = {
        name: (direction, int(high or 0) + 1)
        for direction, high, name in re.findall(
            r"^  (input|output)(?: \[(\d+):0\])? (\w+);", body, re.MULTILINE
        )
    }
    assert told == found
    mapped = [name.find(f"{SPACE}name").text for name in root.iter(f"{SPACE}physicalPort")]
    assert sorted(mapped) == sorted(found)
    order = [child.tag.removeprefix(SPACE) for child in root]
    assert order[4:] == ["busInterfaces", "memoryMaps", "model", "fileSets"]


def test_ip_xact_has_the_addresses_of_the_map(axi, files):
    root = ET.fromstring(files["component.xml"])
    found = {}
    for block in root.iter(f"{SPACE}registerFile"):
        base = int(block.find(f"{SPACE}addressOffset").text[2:], 16)
        name = block.find(f"{SPACE}name").text
        for register in block.iter(f"{SPACE}register"):
            offset = int(register.find(f"{SPACE}addressOffset").text[2:], 16)
            found[name, register.find(f"{SPACE}name").text] = base + offset
    assert found == places(axi)


def test_the_files_are_the_same_each_time(axi, files):
    assert register_files(axi, vendor="kinegate", version="1.0") == files
