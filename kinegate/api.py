"""The public functions, one for each word of the command line. All options are keywords.

Generation options (`kernel`, `ii`, `target`, ...) are those of `GenerationOptions`. Functions that
take long accept `report`, a `kinegate.progress.Report`. Bad input raises `InputError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from boards.definition import board_names, load_board
from hdl.target import targets
from kinegate.axi_files import axi_files, manifest_entry
from kinegate.cost import cost_of
from kinegate.designs import (
    GenerationOptions,
    OptionError,
    Source,
    check_pace,
    make_design,
    open_design,
    open_robot,
    refusing,
    unknown,
)
from kinegate.hardware import simulation_of, synthesis_of
from kinegate.places import check_place, no_place
from kinegate.progress import Report, silent
from kinegate.solving import Solved, answered, check_columns, port_values, read_rows
from sim.batch import ENGINES, run_batch
from sim.geometry import geometry_words as words_of
from sim.package import write_package
from solver_ref.analysis import analyse
from solver_ref.damping import POLICIES
from solver_ref.dynamics.arm_analysis import analyse_arm
from solver_ref.errors import InputError
from solver_ref.kernels import KERNELS
from solver_ref.robot_file import builtin_names, load
from solver_ref.robot_rules import InertiaWarning


def catalogue() -> dict[str, Any]:
    """What can be named: built-in robots, targets, kernels and boards.

    >>> from kinegate import catalogue
    >>> [robot["name"] for robot in catalogue()["robots"]][:2]
    ['acrobot', 'cogiro']
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)  # whoever uses such a robot is told
        known = {name: load(name) for name in builtin_names()}
    robots = [
        {
            "name": name,
            "motion": robot.motion,
            "kind": robot.kind,
            "joints": len(robot.joint_names),
            "closure": robot.closure,
            "source": " ".join(robot.source.split()),
        }
        for name, robot in known.items()
    ]
    chips = [
        {
            "name": chip.name,
            "family": chip.family,
            "dsp": chip.resources.dsp,
            "lut": chip.resources.lut,
            "ff": chip.resources.ff,
            "bram": chip.resources.bram,
        }
        for chip in targets().values()
    ]
    kernels = [{"name": name, "what": kind.what} for name, kind in KERNELS.items()]
    boards = [
        {"name": board.name, "title": board.title, "target": board.target.name}
        for board in map(load_board, board_names())
    ]
    return {"robots": robots, "targets": chips, "kernels": kernels, "boards": boards}


def check(robot: Source, **options: Unpack[GenerationOptions]) -> dict[str, Any]:
    """Validate and analyse a robot, and say what its hardware would cost.

    `ok` is False where something makes the robot unsolvable; `findings` say what. `cost` is None
    where no hardware can be made, and `cost_note` says why.

    >>> from kinegate import check
    >>> check("four-cable-concurrent")["ok"]
    False
    """
    name, opened = open_robot(robot, options, arms=True)
    with refusing(name):
        result = (analyse_arm(opened) if opened.arm else analyse(opened)).as_dict()
    cost = note = None
    try:
        with refusing(name):
            design = make_design(name, opened, options)
            cost = cost_of(design)
            check_pace(name, design)
    except InputError as error:
        if isinstance(error, OptionError) and error.key != "closure":
            raise
        note = str(error)
        result["ok"] = result["ok"] and error.key == "closure"
    return result | {"cost": cost, "cost_note": note}


def solve(
    robot: Source,
    rows: str | PathLike[str] | Mapping[str, object],
    *,
    engine: str = "fixed",
    damping: str | None = None,
    damping_lambda: float | None = None,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> Solved:
    """Answer every row of a CSV file, or of columns in memory, with a kernel (default `forward`).

    Without a start (`x0`, ...) a solve starts cold from home. `damping` is a name of
    `solver_ref.damping.POLICIES` (default `marquardt`), `damping_lambda` its first lambda.

    >>> from kinegate import solve
    >>> solve("hangprinter", {"x": [0.1], "y": [0.2], "z": [0.3]}, kernel="lengths").valid
    array([ True])
    """
    name, opened = open_robot(robot, options, arms=True)
    options = {"kernel": "rnea" if opened.arm else "forward", **options}
    design = make_design(name, opened, options)
    _check_solve(name, engine, damping, damping_lambda)
    kernel = design.options.kernel
    if isinstance(rows, Mapping):
        columns = check_columns(rows, opened, kernel)
    else:
        columns = read_rows(rows, opened, kernel)
    values = port_values(name, design, columns, damping=damping, damping_lambda=damping_lambda)
    with refusing(name):
        report(1, 2, f"{kernel} of {opened.name}: equations and formats")
        if engine == "rtl":
            _ = design.verilog
        elif engine == "fixed":
            _ = design.kernel
        report(2, 2, f"{len(next(iter(values.values())))} rows through the {engine} engine")
    return answered(opened, run_batch(design, values, engine))


def generate(
    robot: Source,
    directory: str | PathLike[str],
    *,
    vectors: int = 1000,
    seed: int = 0,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Write Verilog, a testbench, golden vectors, software and the manifest into a directory.

    Returns the manifest with `directory` and `files`.

    >>> from kinegate import generate
    >>> generate("hangprinter", "out/hangprinter", ii=8)["latency"]  # doctest: +SKIP
    126
    """
    name, opened = open_robot(robot, options, arms=True)
    design = make_design(name, opened, options)
    _check_count(name, vectors, seed)
    place = Path(directory)
    check_place(place)
    with refusing(name):
        report(1, 3, f"{design.options.kernel} of {opened.name}: equations and schedule")
        _ = design.plan
        check_pace(name, design)
        report(2, 3, "Verilog")
        _ = design.verilog
        more, told = axi_files(design), {"axi": manifest_entry(design)}
    report(3, 3, f"{vectors} golden vectors")
    try:
        manifest = write_package(design, place, count=vectors, seed=seed, more=more, told=told)
    except OSError as error:
        raise no_place(place, error.strerror or type(error).__name__) from None
    stem = design.name
    files = [f"{stem}.v", f"{stem}_tb.v", f"{stem}_in.hex", f"{stem}_expected.hex"]
    files += ["vectors.npz", "manifest.json", *manifest["software"]["files"]]
    files += [manifest["geometry"]["file"]] if manifest["geometry"] else []
    files += more
    return {"directory": str(directory), "files": files} | manifest


def geometry_words(
    made_for: Source, robot: Source, **options: Unpack[GenerationOptions]
) -> list[int]:
    """What to load into hardware with run-time geometry for a robot that was measured again.

    `made_for`: the robot that the hardware was made for, with its options, or the directory that
    `generate` wrote; `robot`: the same one with another geometry, other tension limits or another
    stiffness. Returns the words by address, the last one their checksum. InputError where it
    differs in anything else, or a number by more than its tolerance.

    >>> from kinegate import geometry_words
    >>> words = geometry_words("four-cable", "four-cable")
    >>> [hex(word) for word in words[:3]]
    ['0xfb000000', '0xfc000000', '0x6000000']
    """
    opened = open_design(made_for, {"runtime_geometry": True, **options})
    name, other = open_robot(robot, {})
    with refusing(opened.name):
        _ = opened.design.parameters
    try:
        return words_of(opened.design, other)
    except InputError as error:
        raise error.about(name) from None


def simulate(
    robot: Source,
    *,
    simulator: str = "verilator",
    vectors: int | None = None,
    seed: int = 0,
    waves: bool = False,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Simulate a robot's Verilog, or that of a generated directory, against the bit-true model.

    Every bit of every output and every cycle is compared; `passed` says whether all agree. Default
    1000 vectors, 50 in Amaranth's own slow simulator. With run-time geometry another one than the
    robot's own is loaded first, drawn by the seed.

    >>> from kinegate import simulate
    >>> simulate("hangprinter", ii=8, simulator="icarus")["mismatches"]  # doctest: +SKIP
    0
    """
    opened = open_design(robot, options)
    count = vectors if vectors is not None else (50 if simulator == "amaranth" else 1000)
    _check_count(opened.name, count, seed)
    return simulation_of(
        opened, simulator=simulator, count=count, seed=seed, waves=waves, report=report
    )


def synth(
    robot: Source,
    *,
    route: bool = False,
    seed: int = 1,
    report: Report = silent,
    **options: Unpack[GenerationOptions],
) -> dict[str, Any]:
    """Synthesise a robot's Verilog, or that of a generated directory, and count its resources.

    With `route` (ECP5 targets) also place and route with that seed, and report the frequency.
    `kinegate.hardware.shortcomings` says what of the result is not as it should be.

    >>> from kinegate import synth
    >>> synth("hangprinter", ii=8)["fits"]  # doctest: +SKIP
    True
    """
    opened = open_design(robot, options)
    return synthesis_of(opened, route=route, seed=seed, report=report)


def _check_solve(name: str, engine: str, damping: str | None, damping_lambda: float | None) -> None:
    if engine not in ENGINES:
        raise unknown(name, "engine", engine, ENGINES)
    if damping is not None and damping not in POLICIES:
        raise unknown(name, "damping", damping, POLICIES)
    if damping_lambda is not None and not 0 <= damping_lambda <= 1:
        wrong, got = "is out of range", f"{damping_lambda:g}"
        raise OptionError(name, "lambda", wrong=wrong, expected="0 to 1", got=got)


def _check_count(name: str, vectors: int, seed: int) -> None:
    for key, value, low, high in (("vectors", vectors, 1, 10**6), ("seed", seed, 0, 2**32 - 1)):
        if not low <= value <= high:
            wrong, expected = "is out of range", f"{low} to {high}"
            raise OptionError(name, key, wrong=wrong, expected=expected, got=str(value))
