"""The drivers of a design: C for bare metal and Linux, Python for PYNQ and `mmap`.

Most of both is the same for every design and stands in `boards/driver`; what differs is a table of
the fields, whose addresses come from the register header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from hdl.axi_map import AxiInterface
from hdl.packing import Packing
from solver_ref.status import Status

_FOLDER = Path(__file__).with_name("driver")
C_FILES = ("kinegate.h", "kinegate.c", "kinegate_units.h", "kinegate_uio.h", "kinegate_uio.c")
PYTHON = "kinegate_driver.py"
DESCRIPTION = "design.json"


def c_driver(axi: AxiInterface, header: str) -> dict[str, str]:
    """C11 by file name, to stand beside PeakRDL's register header; `header` says what it is for."""
    name = axi.name
    words = {
        "NAME": name,
        "GUARD": name.upper(),
        "HEADER": "\n".join(f" * {line}" for line in header.replace("*/", "* /").splitlines()),
        "INPUT_NAMES": _names(name, "IN", axi.inputs),
        "OUTPUT_NAMES": _names(name, "OUT", axi.outputs),
        "INPUTS": _table("IN", axi.inputs),
        "OUTPUTS": _table("OUT", axi.outputs),
        "GEOMETRY": f"{axi.facts.geometry:#010x}",
    }
    texts = {file: _filled(file, words) for file in C_FILES}
    own = {f"{name}_design.{kind}": _filled(f"design.{kind}.txt", words) for kind in ("h", "c")}
    return texts | own


def _filled(file: str, words: Mapping[str, object]) -> str:
    text = (_FOLDER / file).read_text()
    return re.sub(r"@(\w+)@", lambda match: str(words[match[1]]), text)


def _names(name: str, side: str, packing: Packing) -> str:
    return "\n".join(f"    {name.upper()}_{side}_{field.upper()}," for field in packing.fields)


def _table(side: str, packing: Packing) -> str:
    first = {word.field: word.name for word in packing.words if not word.low}
    return "\n".join(
        f'    {{"{name}", {side}({first[name]}), {form.width}, '
        f"{str(form.signed).lower()}, {form.fraction}}},"
        for name, form in packing.fields.items()
    )


def python_driver(described: Mapping[str, object]) -> dict[str, str]:
    """The Python driver and the description of the design that it reads."""
    text = json.dumps(described, indent=2) + "\n"
    return {PYTHON: (_FOLDER / PYTHON).read_text(), DESCRIPTION: text}


def description(
    axi: AxiInterface,
    *,
    clock_mhz: float,
    pose: Sequence[str] = (),
    integers: Collection[str] = (),
    defaults: Mapping[str, int] | None = None,
) -> dict[str, object]:
    """What the Python driver knows of a design.

    `pose`: the outputs that are the coordinates of a pose; `integers`: those that are no
    quantities; `defaults`: codes of inputs that may be left out.
    """
    control, residual = axi.registers["control"], axi.outputs.fields.get("residual")
    inputs = _fields(axi.inputs)
    return {
        "name": axi.name,
        "map": axi.registers.digest,
        "design": axi.facts.design,
        "geometry": axi.facts.geometry,
        "geometry_words": axi.facts.geometry_words,
        "beat_words": axi.inputs.words_per_beat,
        "clock_mhz": clock_mhz,
        "registers": {f"{b.name}.{r.name}": b.base + r.offset for b, r in axi.registers},
        "bits": {
            name: [part.name for part in control[name].bits]
            for name in ("command", "mode", "state", "event")
        },
        "status_bits": {bit.name: int(bit).bit_length() - 1 for bit in Status},
        "integers": [name for name in axi.outputs.fields if name in integers],
        "residual_fraction": residual.fraction if residual else 0,
        "pose": list(pose),
        "inputs": [field | {"default": (defaults or {}).get(field["name"])} for field in inputs],
        "outputs": _fields(axi.outputs),
    }


def _fields(packing: Packing) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "width": form.width,
            "signed": form.signed,
            "fraction": form.fraction,
            "words": [word.name for word in packing.words if word.field == name],
        }
        for name, form in packing.fields.items()
    ]
