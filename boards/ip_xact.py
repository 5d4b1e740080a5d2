"""What turns PeakRDL's IP-XACT of a register map into a component that a block design takes: bus
interfaces, ports and the file to synthesise (IEEE 1685-2009, with Vivado's names of the buses)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from hdl.axi_map import AxiInterface
from hdl.register_map import ADDRESS_BITS, WORD_BITS

SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_VENDOR = "xilinx.com"
_FILES = "synthesis"
_BUSES = "s_axi:s_axis:m_axis"

_LITE_IN = {
    **{"awaddr": ADDRESS_BITS, "awprot": 3, "awvalid": 1, "wdata": WORD_BITS, "wvalid": 1},
    **{"wstrb": WORD_BITS // 8, "bready": 1, "araddr": ADDRESS_BITS, "arprot": 3, "arvalid": 1},
    "rready": 1,
}
_LITE_OUT = {
    **{"awready": 1, "wready": 1, "bresp": 2, "bvalid": 1, "arready": 1},
    **{"rdata": WORD_BITS, "rresp": 2, "rvalid": 1},
}


def ports(axi: AxiInterface) -> dict[str, tuple[str, int]]:
    """Direction (`in` or `out`) and width of each port of the module."""
    found = {"aclk": ("in", 1), "aresetn": ("in", 1), "irq": ("out", 1)}
    found |= {f"s_axi_{name}": ("in", width) for name, width in _LITE_IN.items()}
    found |= {f"s_axi_{name}": ("out", width) for name, width in _LITE_OUT.items()}
    for side, packing, forth, back in (
        ("s_axis", axi.inputs, "in", "out"),
        ("m_axis", axi.outputs, "out", "in"),
    ):
        bits = packing.beat_bits
        for name, width in (("tdata", bits), ("tkeep", bits // 8), ("tlast", 1), ("tvalid", 1)):
            found[f"{side}_{name}"] = (forth, width)
        found[f"{side}_tready"] = (back, 1)
    return found


def completed(text: str, axi: AxiInterface) -> str:
    """PeakRDL's component with all that a block design needs beside the memory map."""
    ET.register_namespace("spirit", SPIRIT)
    ET.register_namespace("xsi", _SCHEMA)
    root = ET.fromstring(text)
    maps = root.find(_tag("memoryMaps"))
    position = list(root).index(maps)
    memory = maps.find(f"{_tag('memoryMap')}/{_tag('name')}").text
    root.insert(position, _buses(axi, memory))
    root.append(_model(axi))
    root.append(_file_sets(axi))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _tag(name: str) -> str:
    return f"{{{SPIRIT}}}{name}"


def _element(tag: str, /, *inside: ET.Element | str, **attributes: str) -> ET.Element:
    """An element with text or with others inside; attributes are in the same name space."""
    made = ET.Element(_tag(tag), {_tag(key): value for key, value in attributes.items()})
    for part in inside:
        if isinstance(part, str):
            made.text = part
        else:
            made.append(part)
    return made


def _buses(axi: AxiInterface, memory: str) -> ET.Element:
    known = list(ports(axi))
    lite = _element("slave", _element("memoryMapRef", memoryMapRef=memory))
    return _element(
        "busInterfaces",
        _bus("s_axi", "interface", "aximm", lite, _logical("s_axi", known)),
        _bus("s_axis", "interface", "axis", _element("slave"), _logical("s_axis", known)),
        _bus("m_axis", "interface", "axis", _element("master"), _logical("m_axis", known)),
        _bus(
            "aclk",
            "signal",
            "clock",
            _element("slave"),
            {"CLK": "aclk"},
            {"ASSOCIATED_BUSIF": _BUSES, "ASSOCIATED_RESET": "aresetn"},
        ),
        _bus(
            "aresetn",
            "signal",
            "reset",
            _element("slave"),
            {"RST": "aresetn"},
            {"POLARITY": "ACTIVE_LOW"},
        ),
        _bus(
            "irq",
            "signal",
            "interrupt",
            _element("master"),
            {"INTERRUPT": "irq"},
            {"SENSITIVITY": "LEVEL_HIGH"},
        ),
    )


def _logical(prefix: str, known: Iterable[str]) -> dict[str, str]:
    """The bus's own name of each port whose name begins with the prefix."""
    return {
        port[len(prefix) + 1 :].upper(): port for port in known if port.startswith(f"{prefix}_")
    }


def _bus(
    name: str,
    library: str,
    kind: str,
    mode: ET.Element,
    signals: dict[str, str],
    parameters: dict[str, str] | None = None,
) -> ET.Element:
    named = {"vendor": _VENDOR, "library": library, "version": "1.0"}
    maps = [
        _element(
            "portMap",
            _element("logicalPort", _element("name", logical)),
            _element("physicalPort", _element("name", physical)),
        )
        for logical, physical in signals.items()
    ]
    made = _element(
        "busInterface",
        _element("name", name),
        _element("busType", name=kind, **named),
        _element("abstractionType", name=f"{kind}_rtl", **named),
        mode,
        _element("portMaps", *maps),
    )
    if parameters:
        made.append(
            _element(
                "parameters",
                *(
                    _element("parameter", _element("name", key), _element("value", value))
                    for key, value in parameters.items()
                ),
            )
        )
    return made


def _model(axi: AxiInterface) -> ET.Element:
    view = _element(
        "view",
        _element("name", "xilinx_anylanguagesynthesis"),
        _element("envIdentifier", ":vivado.xilinx.com:synthesis"),
        _element("language", "Verilog"),
        _element("modelName", axi.name),
        _element("fileSetRef", _element("localName", _FILES)),
    )
    wires = [_port(name, *facts) for name, facts in ports(axi).items()]
    return _element("model", _element("views", view), _element("ports", *wires))


def _port(name: str, direction: str, width: int) -> ET.Element:
    wire = _element("wire", _element("direction", direction))
    if width > 1:
        sides = (_element("left", str(width - 1)), _element("right", "0"))
        wire.append(_element("vector", *sides))
    return _element("port", _element("name", name), wire)


def _file_sets(axi: AxiInterface) -> ET.Element:
    file = _element(
        "file", _element("name", f"{axi.name}.v"), _element("fileType", "verilogSource")
    )
    return _element("fileSets", _element("fileSet", _element("name", _FILES), file))
