"""The software of a design: the same kernel as C and Structured Text, with the Verilog's header."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from hdl.design import Design
from solver_ref.software import Software, software

FOLDER = "software"


def software_of(design: Design) -> Software:
    """The design's kernel as it was traced: before products are cut to fit the target's
    multipliers, which changes no bit. Where even the C cannot be, there are no files, and `missing`
    says why.
    """
    kernel = design.kernel
    source = kernel.sequence or kernel.iteration or kernel.graph
    lines = takewhile(lambda line: line.startswith("//"), design.verilog.splitlines())
    header = "\n".join(line[2:].strip() for line in lines)
    try:
        return software(source, design.name, header=header)
    except ValueError as error:
        return Software(design.name, {}, {".c": str(error)})


def write_software(made: Software, directory: Path) -> None:
    """Every file of it into `directory`, which is made."""
    directory.mkdir(exist_ok=True)
    for name, text in made.files.items():
        (directory / name).write_text(text)


def manifest_entry(made: Software) -> dict[str, object]:
    """What a manifest says of it: the files, and why a form is missing."""
    return {
        "files": [f"{FOLDER}/{name}" for name in made.files],
        "missing": {f"{made.name}{ending}": why for ending, why in made.missing.items()},
    }
