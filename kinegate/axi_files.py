"""What `generate` writes for an AXI shell: register files, drivers and its manifest entry."""

from __future__ import annotations

import numpy as np

from boards.drivers import DESCRIPTION, c_driver, description, python_driver
from boards.register_files import IP_XACT, PAGE, RDL, header_name, register_files
from hdl.axi_map import VERSION
from hdl.design import Design
from hdl.packing import Packing
from sim.batch import INTEGERS
from solver_ref.kernels.kind import Choices

DRIVER = "driver"
VENDOR = "kinegate"


def axi_files(design: Design) -> dict[str, str]:
    """Texts by their place in the generated directory; none without an AXI axi."""
    if not design.axi:
        return {}
    version = ".".join(map(str, VERSION))
    made = register_files(design.axi, vendor=VENDOR, version=version)
    header = header_name(design.axi)
    driver = {header: made.pop(header)} | c_driver(design.axi, design.header)
    driver |= python_driver(_description(design))
    return made | {f"{DRIVER}/{name}": text for name, text in driver.items()}


def manifest_entry(design: Design) -> dict[str, object] | None:
    """What a manifest says of the shell; None without one."""
    if not design.axi:
        return None
    axi = design.axi
    registers = {f"{block.name}.{r.name}": block.base + r.offset for block, r in axi.registers}
    return {
        "beat_bits": design.beat_bits,
        "words": {"in": _words(axi.inputs), "out": _words(axi.outputs)},
        "beats": {"in": axi.inputs.beats, "out": axi.outputs.beats},
        "map": f"{axi.registers.digest:08x}",
        "design": f"{axi.facts.design:08x}",
        "geometry": f"{axi.facts.geometry:08x}",
        "registers": registers,
        "files": {
            "systemrdl": RDL,
            "page": PAGE,
            "ip_xact": IP_XACT,
            "header": f"{DRIVER}/{header_name(axi)}",
            "description": f"{DRIVER}/{DESCRIPTION}",
        },
    }


def _words(packing: Packing) -> list[str]:
    return [word.name for word in packing.words]


def _description(design: Design) -> dict[str, object]:
    pose = design.robot.coordinates
    return description(
        design.axi,
        clock_mhz=design.clock_mhz,
        pose=pose if set(pose) <= set(design.outputs) else (),
        integers=INTEGERS,
        defaults=default_codes(design),
    )


def default_codes(design: Design) -> dict[str, int]:
    """The codes of those inputs that a row of a CSV file may leave out."""
    needed = design.kind.columns(design.robot).required
    row = {name: np.ones(1) for name in needed}
    values = design.kind.port_values(design.robot, row, Choices())
    return {
        name: int(form.encode(values[name])[0])
        for name, form in design.inputs.items()
        if name not in needed
    }
