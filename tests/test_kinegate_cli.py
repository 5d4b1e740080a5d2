"""The commands: what they print, what they write, and the status they leave with."""

import doctest
import json
import re
import shlex

import click
import pytest
from robot_texts import POINT, edit

import kinegate
from boards.definition import board_names
from boards.report import RouteReport, SynthReport
from hdl.design import Design
from hdl.options import Options
from kinegate import api, demo, hardware
from kinegate.cli import main
from kinegate.designs import open_design
from kinegate.options import LENGTH
from sim.tools import available
from solver_ref.robot_file import builtin_names, load

SMALL = ("hangprinter", "--kernel", "lengths")
SYNTH_KEYS = (
    "target kernel ii clock_mhz fmax_mhz lut ff dsp bram fits latency_cycles feedback_cycles "
    "throughput_per_s dsp_busy dsp_planned lut_multipliers"
).split()


@pytest.fixture
def icarus():
    if reason := available("icarus"):
        pytest.skip(reason)


def figures(result, status=0):
    """The one JSON object on stdout."""
    assert result.exit_code == status, result.stderr
    return json.loads(result.stdout)


def test_the_commands_are_those_that_exist(run):
    assert list(main.commands) == [
        *("list", "check", "solve", "generate", "simulate", "synth", "build", "talk"),
        *("import", "show", "workspace"),
    ]
    for name in main.commands:
        assert run(name, "--help").exit_code == 0


def test_the_api_mirrors_the_words():
    for name in ("load", "check", "solve", "generate", "simulate", "synth"):
        assert getattr(kinegate, name) is getattr(api, name)


def test_the_examples_of_the_api_are_true():
    assert doctest.testmod(api).failed == 0


def test_list_names_everything_that_can_be_named(run):
    known = figures(run("list", "--json"))
    assert [robot["name"] for robot in known["robots"]] == builtin_names()
    crane = next(robot for robot in known["robots"] if robot["name"] == "four-cable")
    assert crane | {"source": ""} == {
        "name": "four-cable",
        "kind": "cable",
        "motion": "spatial",
        "joints": 4,
        "closure": "minimum-norm",
        "source": "",
    }
    names = [target["name"] for target in known["targets"]]
    assert names == ["xc7z020", "xc7z010", "ecp5-85k", "ecp5-45k", "ecp5-25k", "ice40-up5k"]
    kernels = [kernel["name"] for kernel in known["kernels"]]
    assert kernels[:4] == ["lengths", "step", "forward", "track"] and "tension" in kernels
    boards = {board["name"]: board["target"] for board in known["boards"]}
    assert boards["ulx3s-85f"] == "ecp5-85k" and list(boards) == board_names()
    table = run("list").stdout
    assert all(name in table for name in (*names, *boards, *builtin_names()))


def test_check_says_what_four_lengths_leave_open(run):
    result = run("check", "four-cable")
    assert result.exit_code == 0 and result.stderr == ""
    text = " ".join(result.stdout.split())
    assert "four lengths leave 2 directions free at home" in text
    assert "closure minimum-norm" in text and text.endswith("can be solved")


def test_check_finds_and_explains_the_concurrent_crane(run):
    result = run("check", "four-cable-concurrent")
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "scaled copy of the anchors" in text and text.endswith("CANNOT be solved")
    found = figures(run("check", "four-cable-concurrent", "--json"), status=1)
    assert not found["ok"] and "error" in [entry["severity"] for entry in found["findings"]]


def test_check_costs_what_the_design_says(run):
    words = ("--kernel", "forward", "--ii", "6", "--target", "ecp5-45k", "--accuracy", "20um")
    cost = figures(run("check", "hangprinter", *words, "--json"))["cost"]
    robot = load("hangprinter").with_options(accuracy=20e-6)
    design = Design(robot, Options(kernel="forward", ii=6, target="ecp5-45k"))
    assert cost["dsp"] == design.schedule.plan.dsp
    assert cost["multiplier_slots"] == design.schedule.plan.slots
    assert cost["pipeline_cycles"] == design.schedule.latency
    assert cost["latency_cycles"] is None and cost["accuracy"] == 20e-6
    assert cost["quantum"] == 2.0**-design.domain.profile.pose.bits
    assert cost["stops_at"] == {"step": 10e-6}


def test_check_analyses_a_closure_that_makes_no_such_hardware(run):
    found = figures(run("check", "four-cable", "--kernel", "track", "--json"))
    assert found["ok"] and found["cost"] is None
    assert "closure: drifts away" in found["cost_note"]


def test_check_says_the_quantum_and_tolerance_of_a_hanging_platform(run):
    cost = figures(run("check", "irma4u", "--ii", "16", "--json"))["cost"]
    assert cost["kernel"] == "step" and cost["quantum"] == 2.0**-24
    assert cost["stops_at"] == {"residual": pytest.approx(10e-6, abs=0.2e-6)}


def test_a_preset_stands_behind_the_options_that_are_given(run):
    cost = figures(run("check", "four-cable", "--preset", "zynq7020", "--json"))["cost"]
    assert (cost["kernel"], cost["ii"], cost["clock_mhz"]) == ("step", 12, 122.4)
    words = ("--preset", "zynq7020", "--ii", "6", "--kernel", "lengths")
    cost = figures(run("check", "four-cable", *words, "--json"))["cost"]
    assert (cost["kernel"], cost["ii"], cost["clock_mhz"]) == ("lengths", 6, 122.4)


@pytest.mark.parametrize(
    "text, metres",
    [("10um", 1e-5), ("0.01 mm", 1e-5), ("1e-5m", 1e-5), (".5µm", 5e-7), ("2nm", 2e-9)],
)
def test_lengths_have_units(text, metres):
    assert LENGTH.convert(text, None, None) == metres


def test_two_runs_write_the_same_bytes(run, tmp_path):
    for name in ("a", "b"):
        made = figures(run("generate", *SMALL, "-o", name, "--vectors", "40", "--json"))
        place = tmp_path / name
        found = [str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()]
        assert sorted(made["files"]) == sorted(found)
    for name in found:
        assert (tmp_path / "a" / name).read_bytes() == (place / name).read_bytes(), name
    assert made["latency"] == Design(load("hangprinter"), Options(kernel="lengths")).latency


def test_millimetres_and_metres_give_the_same_verilog(run, tmp_path):
    scaled = edit(POINT, 'motion = "point"', 'motion = "point"\nunits = { length = "mm" }')
    for metres, millimetres in (
        ("[0, -1, 0]", "[0, -1000, 0]"),
        ("[1, 1, 0]", "[1e3, 1000, 0]"),
        ("[-1, 1, 0]", "[-1000.0, 1000, 0]"),
        ("[[-0.5, 0.5], [-0.5, 0.5], [0.1, 1]]", "[[-500, 500], [-500, 500], [100, 1000]]"),
    ):
        scaled = edit(scaled, metres, millimetres)
    (tmp_path / "m.toml").write_text(POINT)
    (tmp_path / "mm.toml").write_text(scaled)
    for unit in ("m", "mm"):
        words = ("generate", f"{unit}.toml", "-o", unit, "--kernel", "lengths", "--vectors", "5")
        assert run(*words).exit_code == 0
    for name in ("printer_lengths.v", "manifest.json", "vectors.npz"):
        assert (tmp_path / "m" / name).read_bytes() == (tmp_path / "mm" / name).read_bytes()


def test_a_simulation_of_a_robot_and_of_its_directory_agree(run, tmp_path, icarus):
    words = ("--simulator", "icarus", "--vectors", "60", "--seed", "3", "--json")
    seen = figures(run("simulate", *SMALL, *words))
    design = Design(load("hangprinter"), Options(kernel="lengths"))
    assert seen["passed"] and (seen["mismatches"], seen["timing_differs"]) == (0, 0)
    assert seen["latency_cycles"] == seen["latency_model"] == design.latency
    assert seen["ii_measured"] == seen["ii_model"] == seen["ii"] == 4
    assert (seen["simulator"], seen["vectors"], seen["seed"]) == ("icarus", 60, 3)
    assert seen["cycles"] == 4 * 59 + design.latency + 1
    assert 0 < seen["max_error"]["m"] < design.robot.accuracy.length
    assert run("generate", *SMALL, "-o", "made", "--vectors", "5").exit_code == 0
    assert figures(run("simulate", "made", *words)) == seen
    assert (tmp_path / "made" / "sim_build").is_dir()


def test_an_edited_file_is_caught(run, tmp_path, icarus):
    assert run("generate", *SMALL, "-o", "made", "--vectors", "5").exit_code == 0
    file = tmp_path / "made" / "hangprinter_lengths.v"
    good = file.read_text()
    at = good.index("assign o_L1 = ")
    file.write_text(good[:at] + good[at:].replace("assign o_L1 = ", "assign o_L1 = 1 ^ ", 1))
    words = ("simulate", "made", "--simulator", "icarus", "--vectors", "20")
    seen = figures(run(*words, "--json"), status=1)
    assert seen["mismatches"] == 20 and not seen["passed"]
    assert "FAILED" in run(*words).stdout
    file.write_text(good.replace("endmodule", "endmodul", 1))
    result = run(*words)
    assert result.exit_code == 1 and "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: building hangprinter_lengths_tb")


def test_solves_are_measured_by_min_mean_and_max(run, icarus):
    words = ("hangprinter", "--kernel", "forward", "--ii", "8", "--simulator", "icarus")
    seen = figures(run("simulate", *words, "--vectors", "25", "--json"))
    assert seen["passed"] and seen["step_ii"] == 8
    assert set(seen["latency_cycles"]) == {"min", "mean", "max"} == set(seen["ii_measured"])
    assert (
        seen["latency_cycles"] == seen["latency_model"] and seen["ii_measured"] == seen["ii_model"]
    )


def test_the_amaranth_simulator_needs_no_tool(run):
    seen = figures(run("simulate", *SMALL, "--simulator", "amaranth", "--json"))
    assert seen["passed"] and seen["vectors"] == 50


def test_waves_are_kept(run, tmp_path, icarus):
    words = ("--simulator", "icarus", "--vectors", "5", "--waves", "--json")
    seen = figures(run("simulate", *SMALL, *words))
    with open(seen["waves"]) as file:
        assert "$enddefinitions" in file.read()


def test_synthesis_counts_what_was_planned(run):
    words = ("--ii", "12", "--target", "ecp5-25k", "--json")
    made = figures(run("synth", *SMALL, *words))
    plan = Design(
        load("hangprinter"), Options(kernel="lengths", ii=12, target="ecp5-25k")
    ).schedule.plan
    assert list(made) == SYNTH_KEYS
    assert made["dsp"] == made["dsp_planned"] == plan.dsp and made["fits"]
    assert made["fmax_mhz"] is None and made["feedback_cycles"] is None
    assert made["throughput_per_s"] == 100e6 / 12
    assert made["dsp_busy"] == plan.slots / (plan.dsp * 12)


@pytest.mark.parametrize(
    "change, status, note",
    [
        ({}, 0, None),
        ({"lut": 10**6}, 1, "it does not fit ecp5-25k"),
        ({"dsp": 1}, 1, "it has 1 multipliers, not 10 as planned"),
        ({"fmax": 80.0}, 1, "it reaches 80.0 MHz, not the clock of 100 MHz"),
    ],
)
def test_what_falls_short_exits_with_1_and_says_why(run, monkeypatch, change, status, note):
    options = Options(kernel="lengths", ii=12, target="ecp5-25k")
    plan = Design(load("hangprinter"), options).schedule.plan
    resources = {"lut": 100, "ff": 100, "dsp": plan.dsp, "bram": 0} | change
    fmax = resources.pop("fmax", 120.0)
    report = SynthReport(**resources, cells={}, json_netlist=None)
    monkeypatch.setattr(hardware, "synthesise", lambda *words: report)
    routed = RouteReport(fmax_mhz=fmax, utilisation={})
    monkeypatch.setattr(hardware, "place_and_route", lambda *words, **options: routed)
    words = ("--ii", "12", "--target", "ecp5-25k", "--route")
    made = figures(run("synth", *SMALL, *words, "--json"), status)
    assert made["fmax_mhz"] == (fmax if made["fits"] else None)
    result = run("synth", *SMALL, *words)
    assert result.exit_code == status
    assert note is None or re.sub("not .. as", f"not {plan.dsp} as", note) in result.stderr


def test_progress_is_on_stderr_only(run):
    result = run("simulate", *SMALL, "--simulator", "amaranth", "--vectors", "2")
    assert result.stderr.startswith("simulate: [1/4] lengths of hangprinter")
    assert "[1/4]" not in result.stdout and "bit-exact" in result.stdout


def test_the_demo_runs_and_recommends_commands_that_exist(capsys):
    plan = demo.jobs()
    synthesised = dict.fromkeys(SYNTH_KEYS, 1) | {"latency_cycles": {"min": 1, "max": 2}}
    for (_, what), job in plan.items():
        job.figures = synthesised if what in demo.FAMILIES else {}
        if what == "simulated":
            job.figures = {"vectors": 1000, "mismatches": 0, "max_error": {"m": 1e-6}}
    demo.show(plan, 100.0)
    lines = [text.strip() for text in capsys.readouterr().out.splitlines() if "  kinegate " in text]
    assert len(lines) == len(plan) + 6
    for line in lines:
        words = shlex.split(line)[1:]
        command = main.commands[words[0]]
        with click.Context(main, info_name="kinegate") as parent:
            command.make_context(words[0], words[1:], parent=parent)


def test_a_failed_command_fails_the_demo(capsys):
    first = demo.Job(("check", "no-such-robot"))
    after, other = demo.Job(("list",), first), demo.Job(("list",))
    demo.run([first, after, other], lambda number, total, text: None)
    assert (first.status, after.status, other.status) == (2, None, 0)
    assert "boards" in other.figures
    assert "error: no-such-robot: ROBOT" in capsys.readouterr().err


def test_the_sample_rate_is_part_of_the_options_and_of_the_digest():
    usual = open_design("planar4", {"kernel": "track"}).design
    slow = open_design("planar4", {"kernel": "track", "sample_rate": 1000.0}).design
    assert "sample_rate" not in usual.canonical_options
    assert slow.canonical_options["sample_rate"] == 1000
    assert slow.robot.digest != usual.robot.digest
