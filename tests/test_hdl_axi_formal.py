"""Proofs by induction: the AXI parts keep the protocol whatever the other end does."""

from pathlib import Path

import pytest

from boards.yosys import run_script
from hdl.axi_lite import AxiLite
from hdl.axi_stream import PacketReader, PacketWriter
from hdl.packing import Packing
from hdl.toolrun import ToolError
from hdl.verilog import verilog
from solver_ref.fixed import Format

PACKING = Packing({"a": Format(True, 5, 0), "b": Format(False, 32, 0), "c": Format(True, 3, 0)})
EXPOSED = {
    "reader": ("index", "dropping", "spoilt", "part_a", "part_b"),
    "writer": ("index", "kept", "kept_ends"),
}
"""Registers about which the induction has to know."""


def prove(folder, properties, parts, change=str):
    """Prove the assertions of a file about modules; ToolError where one does not hold."""
    lines = []
    for name, part in parts.items():
        (folder / f"{name}.v").write_text(change(verilog(part, name, "a part")))
        lines += [f"read_verilog -formal -nooverwrite {name}.v"]
        lines += [f"expose {name}/{register}" for register in EXPOSED.get(name, ())]
    text = Path(__file__).with_name(properties).read_text()
    (folder / "properties.v").write_text(text)
    lines += [
        "read_verilog -formal properties.v",
        "prep -flatten -top properties",
        "async2sync",
        "chformal -lower",
        "opt_clean",
        "sat -verify -tempinduct -prove-asserts -set-assumes -seq 1 -maxsteps 4 properties",
    ]
    log = folder / "log"
    run_script("\n".join(lines) + "\n", folder, log)
    assert "Induction step proven: SUCCESS!" in log.read_text()


def streams():
    return {"reader": PacketReader(PACKING), "writer": PacketWriter(PACKING)}


def test_the_registers_bus_answers_each_access_once_and_right(tmp_path):
    prove(tmp_path, "axi_lite_properties.v", {"lite": AxiLite()})


def test_packets_are_transfers_and_transfers_packets(tmp_path):
    prove(tmp_path, "axi_stream_properties.v", streams())


@pytest.mark.parametrize(
    "properties, parts, right, wrong",
    [
        ("axi_lite_properties.v", "lite", "s_axi_bvalid <= ", "s_axi_bvalid <= !"),
        ("axi_stream_properties.v", "streams", "index <= ", "index <= 1 + "),
    ],
)
def test_a_part_that_breaks_the_protocol_is_found(tmp_path, properties, parts, right, wrong):
    made = {"lite": AxiLite()} if parts == "lite" else streams()
    with pytest.raises(ToolError, match="proof did fail"):
        prove(tmp_path, properties, made, lambda text: text.replace(right, wrong))
