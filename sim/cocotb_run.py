"""Builds a generated design and runs the cocotb bench (`sim.cocotb_bench`) on it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from solver_ref.fixed import Format


class CocotbFailure(RuntimeError):
    """Some tests failed, or none ran. The message ends with the last lines of the log."""


def run_cocotb(
    verilog_files: Sequence[Path],
    top: str,
    build_dir: Path,
    *,
    inputs: Mapping[str, Format],
    outputs: Mapping[str, Format],
    tag_width: int,
    in_file: Path,
    expected_file: Path,
    latency: int | None = None,
    ii: int | None = None,
    simulator: str = "icarus",
    test_module: str = "sim.cocotb_bench",
) -> int:
    """How many tests ran, all of them with success; `CocotbFailure` otherwise.

    `in_file` and `expected_file` are vectors as `hdl.testbench.write_hex` writes them. `latency`
    and `ii` are checked where they are given, which is for kernels whose cycles do not depend on
    the data. `simulator` is a name that cocotb knows; its program is looked for in PATH.
    """
    setup = {
        "inputs": {name: str(form) for name, form in inputs.items()},
        "outputs": {name: str(form) for name, form in outputs.items()},
        "tag_width": tag_width,
        "in": str(Path(in_file).resolve()),
        "expected": str(Path(expected_file).resolve()),
        "latency": latency,
        "ii": ii,
    }
    return run_tests(
        verilog_files, top, build_dir, setup=setup, simulator=simulator, test_module=test_module
    )


def run_tests(
    verilog_files: Sequence[Path],
    top: str,
    build_dir: Path,
    *,
    setup: Mapping[str, object],
    simulator: str,
    test_module: str,
) -> int:
    """Run the tests of a module on `top`, as `run_cocotb` does; they find `setup` as JSON in the
    file that `KINEGATE_BENCH` names."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    build_dir = Path(build_dir).resolve()
    build_dir.mkdir(parents=True, exist_ok=True)
    (build_dir / "bench.json").write_text(json.dumps(setup))
    sources = [Path(file).resolve() for file in verilog_files]
    log, results = build_dir / "cocotb.log", build_dir / "cocotb.xml"
    runner = get_runner(simulator)
    runner.build(
        sources=sources,
        hdl_toplevel=top,
        build_dir=build_dir,
        timescale=("1ns", "1ps"),
        log_file=build_dir / "build.log",
        always=True,
    )
    # The runner leaves with an exit status under some callers only: the results file decides.
    with contextlib.suppress(SystemExit):
        runner.test(
            test_module=test_module,
            hdl_toplevel=top,
            build_dir=build_dir,
            test_dir=build_dir,
            results_xml=str(results),
            log_file=log,
            extra_env={"KINEGATE_BENCH": str(build_dir / "bench.json")},
        )
    try:
        number, failed = get_results(results)
    except RuntimeError as error:
        raise CocotbFailure(f"{top}: {error}\n{_tail(log)}") from error
    if failed or not number:
        raise CocotbFailure(f"{top}: {failed} of {number} tests failed\n{_tail(log)}")
    return number


def _tail(log: Path, lines: int = 40) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
