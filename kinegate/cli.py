"""The command line `kinegate`, thin over `kinegate.api`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from kinegate import api, tables
from kinegate.building import build, failings
from kinegate.hardware import shortcomings
from kinegate.importing import import_robot
from kinegate.map_report import map_notes
from kinegate.map_words import workspace_options
from kinegate.mapping import workspace
from kinegate.options import (
    INTEGER,
    NUMBER,
    POSE,
    RANGES,
    VIEW,
    generation_options,
    given,
    json_option,
    robot_argument,
    seed_option,
    vectors_option,
)
from kinegate.program import FAILED, Program
from kinegate.progress import reporting
from kinegate.showing import show
from kinegate.solving import Solved
from kinegate.talking import talk
from kinegate.workers import usable_cores


def _version() -> str:
    try:
        return version("kinegate")
    except PackageNotFoundError:
        return "0 (not installed)"


@click.group(cls=Program, name="kinegate", no_args_is_help=False)
@click.version_option(_version(), prog_name="kinegate")
def main() -> None:
    """From the description of a parallel robot to verified hardware.

    ROBOT is a robot file or the name of a built-in; DIR is what `generate` wrote.
    Exit status: 0 good, 1 a check failed, 2 bad input.
    """


def _print_json(figures: dict[str, Any]) -> None:
    print(json.dumps(figures, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy's scalars and arrays as Python's."""
    return value.tolist()


def _note(text: str) -> None:
    print(f"kinegate: {text}", file=sys.stderr)


def _judged(wrong: list[str]) -> int:
    """The exit status of what has these shortcomings, each of which is said."""
    for text in wrong:
        _note(text)
    return FAILED if wrong else 0


@main.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Built-in robots, targets, kernels and boards."""
    known = api.catalogue()
    _print_json(known) if as_json else tables.catalogue(known)


@main.command()
@robot_argument()
@generation_options
@json_option
def check(robot: str, as_json: bool, **options: Any) -> int:
    """Validate a robot: mobility, determinedness, conditioning, singularity, cost.

    Exits with 1 where the robot cannot be solved.
    """
    found = api.check(robot, **given(options))
    _print_json(found) if as_json else tables.check(found)
    return 0 if found["ok"] else FAILED


@main.command()
@robot_argument()
@click.argument("rows", metavar="IN.csv")
@click.option("-o", "--output", metavar="OUT.csv", help="[stdout]")
@click.option("--engine", default="fixed", metavar="E", help="float, fixed or rtl [fixed].")
@click.option("--damping", metavar="D", help="none, fixed, marquardt or shrink-on-failure.")
@click.option("--lambda", "damping_lambda", type=NUMBER, metavar="X", help="The first lambda.")
@generation_options
@json_option
def solve(
    robot: str,
    rows: str,
    output: str | None,
    engine: str,
    damping: str | None,
    damping_lambda: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Answer every row of a CSV file (kernel `forward` where no other is named).

    Exits with 1 where a row is not VALID; all rows are written, each with its status.
    """
    with reporting("solve") as report:
        solved = api.solve(
            robot,
            rows,
            engine=engine,
            damping=damping,
            damping_lambda=damping_lambda,
            report=report,
            **given(options),
        )
    if output is not None:
        solved.write(output)
    elif not as_json:
        solved.write(sys.stdout)
    counts = _summary(solved, engine, output)
    if as_json:
        _print_json(counts if output is not None else counts | {"columns": _columns(solved)})
    statuses = ", ".join(f"{n} {names}" for names, n in solved.status_counts.items())
    _note(f"{counts['valid']} of {counts['rows']} rows may be used: {statuses}")
    return 0 if solved.valid.all() else FAILED


def _summary(solved: Solved, engine: str, output: str | None) -> dict[str, Any]:
    summary = {
        "engine": engine,
        "rows": len(solved.valid),
        "valid": int(solved.valid.sum()),
        "status": solved.status_counts,
        "output": output,
    }
    for name in ("iterations", "residual"):
        if name in solved.columns:
            column = solved.columns[name]
            summary[name] = {"mean": float(column.mean()), "max": float(column.max())}
    return summary


def _columns(solved: Solved) -> dict[str, Any]:
    return {
        name: list(values)
        for name, values in zip(solved.columns, zip(*solved.rows(), strict=True), strict=True)
    }


@main.command()
@robot_argument()
@click.option("-o", "--output", metavar="DIR", required=True, help="The directory to write.")
@vectors_option
@seed_option
@generation_options
@json_option
def generate(
    robot: str, output: str, vectors: int | None, seed: int | None, as_json: bool, **options: Any
) -> None:
    """Write Verilog, testbench, golden vectors and manifest into a directory."""
    amount = given({"vectors": vectors, "seed": seed})
    with reporting("generate") as report:
        made = api.generate(robot, output, report=report, **amount, **given(options))
    _print_json(made) if as_json else tables.generated(made)


@main.command()
@robot_argument("ROBOT|DIR")
@click.option(
    "--simulator",
    default="verilator",
    metavar="S",
    help="verilator, icarus or amaranth [verilator].",
)
@vectors_option
@seed_option
@click.option("--waves", is_flag=True, help="Keep every signal in waves.vcd.")
@generation_options
@json_option
def simulate(
    robot: str,
    simulator: str,
    vectors: int | None,
    seed: int | None,
    waves: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Compare the Verilog with the bit-true model: every bit and every cycle.

    Exits with 1 on any difference.
    """
    amount = given({"vectors": vectors, "seed": seed})
    with reporting("simulate") as report:
        seen = api.simulate(
            robot, simulator=simulator, waves=waves, report=report, **amount, **given(options)
        )
    _print_json(seen) if as_json else tables.simulation(seen)
    return 0 if seen["passed"] else FAILED


@main.command()
@robot_argument("ROBOT|DIR")
@click.option("--route", is_flag=True, help="Place and route too (ECP5 targets).")
@click.option("--seed", type=INTEGER, metavar="S", help="Of place and route [1].")
@generation_options
@json_option
def synth(robot: str, route: bool, seed: int | None, as_json: bool, **options: Any) -> int:
    """Synthesise the Verilog and count what it occupies.

    Exits with 1 where it does not fit, or differs from the plan, or misses the clock.
    """
    with reporting("synth") as report:
        made = api.synth(
            robot, route=route, report=report, **given({"seed": seed}), **given(options)
        )
    _print_json(made) if as_json else tables.synthesis(made)
    return _judged(shortcomings(made))


@main.command("build")
@robot_argument("ROBOT|DIR")
@click.option(
    "--board", metavar="BOARD", required=True, help="See `kinegate list`; or a board's file."
)
@click.option("-o", "--output", metavar="DIR", help="[named after robot, kernel and board]")
@click.option(
    "--seeds", type=INTEGER, metavar="N", help="Of place and route, until one is met [4]."
)
@generation_options
@json_option
def build_(robot: str, board: str, output: str | None, as_json: bool, **options: Any) -> int:
    """Build a bitstream for a board (kernel `forward` where no other is named).

    Exits with 1, and writes nothing, where the design does not fit or misses its clock.
    """
    with reporting("build") as report:
        made = build(robot, board=board, directory=output, report=report, **given(options))
    _print_json(made) if as_json else tables.built(made)
    return _judged(failings(made))


@main.command("talk")
@robot_argument("ROBOT|DIR")
@click.argument("rows", metavar="IN.csv")
@click.option("--port", metavar="PORT", required=True, help="Such as /dev/ttyUSB0.")
@click.option("--board", metavar="BOARD", help="That of the build.")
@click.option("--baud", type=INTEGER, metavar="N", help="That of the build [1000000].")
@click.option("--window", type=INTEGER, metavar="N", help="Rows sent before an answer [4].")
@click.option("--attempts", type=INTEGER, metavar="N", help="Of a row that gets no answer [4].")
@click.option("-o", "--output", metavar="OUT.csv", help="[stdout]")
@generation_options
@json_option
def talk_(robot: str, rows: str, output: str | None, as_json: bool, **options: Any) -> int:
    """Answer every row of a CSV file by a board on a serial port (kernel `forward`).

    ROBOT, BOARD and the options are those of the build: a board with another design is refused.
    Exits with 1 where no such board answers, or a row is not VALID.
    """
    with reporting("talk") as report:
        talked = talk(robot, rows, report=report, **given(options))
    solved, figures = talked.solved, talked.figures
    if output is not None:
        solved.write(output)
    elif not as_json:
        solved.write(sys.stdout)
    counts = _summary(solved, "board", output) | figures
    if as_json:
        _print_json(counts if output is not None else counts | {"columns": _columns(solved)})
    _note(
        f"{counts['valid']} of {counts['rows']} rows may be used; {figures['rows_per_s']:.0f} rows "
        f"a second; sent again: {figures['sent_again']}"
    )
    return 0 if solved.valid.all() else FAILED


@main.command("import")
@robot_argument("FILE")
@click.option("-o", "--output", metavar="ROBOT.toml", required=True, help="The file to write.")
@click.option("--cable-set", metavar="S", help="Of a CASPR model [its default].")
@click.option("--units", metavar="U", help="Of a hexapod's HAL: mm, cm, m or in [its INI's].")
@click.option("--name", metavar="NAME", help="Of the robot [the file's].")
@click.option("--position", type=RANGES, metavar="LOW:HIGH,...", help="The workspace, m [derived].")
@click.option("--tilt", type=NUMBER, metavar="RAD", help="Its largest rotation [derived].")
@click.option("--home", type=POSE, metavar="X,Y,...", help="Where a solve starts [the file's].")
@click.option("--poses", metavar="POSES.csv", help="Write the points of its trajectories, too.")
@json_option
def import_(robot: str, output: str, as_json: bool, **options: Any) -> None:
    """Make a robot file of a CASPR *_bodies.xml, Klipper winches, a LinuxCNC HAL file or a URDF.

    The workspace is where the file moves the robot, or as much of that as can be solved.
    """
    made = import_robot(robot, output, **given(options))
    _print_json(made) if as_json else tables.imported(made)


@main.command("show")
@robot_argument()
@click.option("-o", "--output", metavar="FILE", required=True, help=".png, .svg, .gif or .mp4.")
@click.option("--pose", type=POSE, metavar="X,Y,...", help="All of it, or its position [home].")
@click.option("--trajectory", metavar="POSES.csv", help="Poses, maybe with times t.")
@click.option("--frames", type=INTEGER, metavar="N", help="Of a film, at most [100].")
@click.option("--view", type=VIEW, metavar="EL,AZ", help="In degrees [22,-62].")
@generation_options
@json_option
def show_(robot: str, output: str, as_json: bool, **options: Any) -> None:
    """Draw a robot with its lengths, condition number and tensions, or a film of a trajectory.

    Cables that are slack are orange; where no tensions hold the platform all are red.
    """
    with reporting("show") as report:
        made = show(robot, output, report=report, **given(options))
    _print_json(made) if as_json else tables.shown(made)


@main.command("workspace")
@robot_argument()
@workspace_options
@seed_option
@generation_options
@json_option
def workspace_(robot: str, output: str | None, as_json: bool, **options: Any) -> int:
    """Maps: reach, conditioning, singularity, feasible tensions, iterations.

    Plots (PNG, SVG) and data (CSV, NPZ) of a section or a volume, its safe region, the check of a
    path, a plan around what is bad, or a sweep of designs.

    Exits with 1 where the path or the plan fails, or a worker was lost.
    """
    chosen = {"jobs": usable_cores()} | given(options)
    with reporting("workspace") as report:
        found = workspace(robot, output, report=report, **chosen)
    if as_json:
        _print_json(found)
    elif "keys" in found:
        tables.sweep(found)
    else:
        tables.workspace(found)
    for text in map_notes(found):
        _note(text)
    return 0 if found["ok"] else FAILED
