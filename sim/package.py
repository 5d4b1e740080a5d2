"""What `generate` writes: Verilog, testbench, golden vectors and the manifest that names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hdl.axi_testbench import axi_testbench
from hdl.design import Design
from hdl.options import Options
from hdl.testbench import testbench, write_hex, write_words
from sim import geometry
from sim.accuracy import largest_errors
from sim.software import FOLDER, manifest_entry, software_of, write_software
from sim.vectors import Vectors, golden_vectors
from solver_ref.files import filled
from solver_ref.fixed import Format
from solver_ref.parameters import words
from solver_ref.robot_facts import from_facts
from solver_ref.status import Status

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Package:
    """A generated directory: the design that it was made of, and its Verilog as it is now."""

    directory: Path
    design: Design

    @property
    def verilog(self) -> Path:
        return self.directory / f"{self.design.name}.v"


def write_package(
    design: Design,
    directory: Path,
    *,
    count: int,
    seed: int,
    more: Mapping[str, str] | None = None,
    told: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Write everything into `directory` and return the manifest.

    `more`: texts of other files by their place there; `told`: what the manifest says of them.
    The files are made aside and moved into place together at the end, so that an interruption
    leaves what was there before.
    """
    vectors = golden_vectors(design, count, seed)
    manifest = make_manifest(design, vectors, seed) | dict(told or {})
    with filled(directory) as aside:
        write_files(design, vectors, aside)
        for name, text in (more or {}).items():
            (aside / name).parent.mkdir(exist_ok=True)
            (aside / name).write_text(text)
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest


def write_files(design: Design, vectors: Vectors, directory: Path) -> None:
    """Verilog, testbench, vectors (as `$readmemh` words and as one NumPy archive) and software."""
    name = design.name
    (directory / f"{name}.v").write_text(design.verilog)
    (directory / f"{name}_tb.v").write_text(bench_text(design, len(vectors)))
    write_hex(directory / f"{name}_in.hex", design.inputs, vectors.inputs)
    write_hex(directory / f"{name}_expected.hex", design.outputs, vectors.outputs)
    arrays = {f"in_{key}": codes for key, codes in vectors.inputs.items()}
    arrays |= {f"out_{key}": codes for key, codes in vectors.outputs.items()}
    np.savez_compressed(directory / "vectors.npz", **arrays)
    write_software(software_of(design), directory / FOLDER)
    if design.parameters:
        write_words(directory / f"{name}_geometry.hex", words(design.parameters))


def bench_text(design: Design, count: int) -> str:
    """The testbench of a design, with room for so many vectors."""
    loaded = len(design.parameters) + 1 if design.parameters else 0
    sizes = {"tag_width": design.TAG_WIDTH, "vectors": count, "geometry_words": loaded}
    if design.axi:
        return axi_testbench(design.axi, **sizes)
    return testbench(design.name, inputs=design.inputs, outputs=design.outputs, **sizes)


def make_manifest(design: Design, vectors: Vectors, seed: int) -> dict[str, object]:
    """The contract of a generated kernel, ready for JSON."""
    robot, plan = design.robot, design.plan
    timing = vectors.timing.summary() if vectors.timing else {}
    three = {
        key: {k: timing.get(f"{key}_{k}") for k in ("min", "mean", "max")}
        for key in ("latency", "ii")
    }
    return {
        "name": design.name,
        "robot": {"name": robot.name, "facts": asdict(robot)},
        "kernel": design.options.kernel,
        "ii": three["ii"] if timing else design.cycles,
        "latency": three["latency"] if timing else design.latency,
        "feedback_latency": design.feedback_latency,
        "step_ii": design.ii,
        "pipeline_latency": design.pass_latency,
        "clock_mhz": design.clock_mhz,
        "sample_rate_hz": robot.sample_rate if design.kind.sampled else None,
        "ports": {"in": _ports(design.inputs, "i_"), "out": _ports(design.outputs, "o_")},
        "formats": {name: str(fmt) for name, fmt in (design.inputs | design.outputs).items()},
        "tag_width": design.TAG_WIDTH,
        "status_bits": {bit.name: int(bit).bit_length() - 1 for bit in Status},
        "closure": robot.closure,
        "determined": robot.determined,
        "accuracy": design.kind.accuracy(robot),
        "max_error": largest_errors(design, vectors),
        "targets": [design.options.target],
        "multipliers": {"dsp": plan.dsp, "lut": plan.lut_multipliers, "dsp_busy": plan.dsp_busy},
        "vectors": {"count": len(vectors), "seed": seed, "file": "vectors.npz"},
        "software": manifest_entry(software_of(design)),
        "geometry": geometry.manifest_entry(design),
        "digest": robot.digest,
        "options": design.canonical_options,
    }


def _ports(formats: dict[str, Format], prefix: str) -> list[dict[str, object]]:
    return [
        {
            "name": prefix + name,
            "field": name,
            "format": str(fmt),
            "width": fmt.width,
            "signed": fmt.signed,
        }
        for name, fmt in formats.items()
    ]


def read_package(directory: Path) -> Package:
    """The design that a generated directory was made of. ValueError says what is wrong with it."""
    manifest = json.loads((directory / MANIFEST).read_text())
    robot = from_facts(manifest["robot"]["facts"])
    chosen = {key: manifest["options"][key] for key in ("kernel", "ii", "target", "profile")}
    chosen["clock_mhz"] = manifest["options"]["clock_mhz"]
    unusual = ("runtime_geometry", "shell", "folded", "cores")
    chosen |= {key: manifest["options"][key] for key in unusual if key in manifest["options"]}
    options = Options(**chosen)
    if robot.digest != manifest["digest"]:
        raise ValueError("the robot in the manifest does not have the digest that it names")
    return Package(directory, Design(robot, options))
