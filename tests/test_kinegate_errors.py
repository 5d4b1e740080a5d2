"""Bad input on the command line: one line, exit status 2, no traceback, nothing half-written."""

import re

import pytest
from robot_texts import CRANE, SECOND, edit

from hdl.toolrun import ToolMissing
from kinegate import api, hardware
from sim import package

LENGTHS = "L1,L2,L3,L4\n"


def line_of(result, status=2):
    """The one line on stderr, below progress; stdout is empty."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    lines = [text for text in result.stderr.splitlines() if not re.match(r"\w+: \[\d/\d\] ", text)]
    assert len(lines) == 1, result.stderr
    return lines[0]


USAGE = [
    ("", r"error: kinegate: arguments: missing command; expected .*; got others"),
    (
        "explode four-cable",
        r"error: kinegate: COMMAND: is unknown; expected one of list, check, solve, generate, "
        r"simulate, synth, build, talk, import, show, workspace; got 'explode'",
    ),
    ("check", r"error: kinegate check: ROBOT: is missing; expected .*; got nothing"),
    ("check planar4 --taget x", r"error: .*: --taget: is no option, did you mean --target; .*"),
    ("check planar4 --ii", r"error: .*: --ii: option '--ii' requires an argument; expected .*"),
    (
        "check planar4 more",
        r"error: planar4: arguments: got unexpected extra argument \(more\); .*",
    ),
    ("generate planar4", r"error: planar4: DIR: is missing; expected .*; got nothing"),
    (
        "check plnar4",
        r"error: plnar4: ROBOT: is neither a file nor a built-in robot, did you mean planar4; "
        r"expected a path or one of acrobot, .*; got 'plnar4'",
    ),
]
OPTIONS = [
    (
        "--target xc7z2",
        r"--target: is unknown, did you mean xc7z020; expected one of xc7z020, xc7z010, ecp5-85k, "
        r"ecp5-45k, ecp5-25k, ice40-up5k; got 'xc7z2'",
    ),
    ("--target unit", r"--target: is unknown; expected one of .*; got 'unit'"),
    (
        "--kernel tensions",
        r"--kernel: is unknown.*; expected one of lengths, step, forward, .*; got 'tensions'",
    ),
    ("--profile 9bit", r"--profile: is unknown.*; expected one of fine, 18bit; got '9bit'"),
    ("--ii two", r"--ii: cannot be read; expected an integer; got 'two'"),
    ("--ii 0", r"--ii: is out of range; expected 1 to 1024 clock cycles; got 0"),
    ("--cores 0 --folded", r"--cores: is out of range; expected 1 to 32 folded cores; got 0"),
    ("--cores 2", r"--cores: is of folded cores; expected --folded beside it; got --cores 2"),
    ("--clock nan", r"--clock: is out of range; expected above 0 and at most 1000 MHz; got nan"),
    (
        "--accuracy 10",
        r"--accuracy: cannot be read; expected a length with its unit, such as 10um or 0.01mm; "
        r"got '10'",
    ),
    ("--accuracy 1m", r"--accuracy: is out of range; expected 1e-09 m to 0.001 m; got 1 m"),
    (
        "--closure minimum-norm",
        r"--closure: does not fit the robot; expected lengths \(4 lengths determine 3 "
        r"coordinates\); got minimum-norm",
    ),
    ("--closure none", r"--closure: is unknown; expected one of lengths, .*; got 'none'"),
]


@pytest.mark.parametrize("words, pattern", USAGE)
def test_wrong_usage_is_one_line(run, words, pattern):
    assert re.fullmatch(pattern, line_of(run(*words.split())))


@pytest.mark.parametrize("words, pattern", OPTIONS)
@pytest.mark.parametrize("command", ["check", "generate -o out", "simulate", "synth"])
def test_a_bad_generation_option_is_named(run, tmp_path, command, words, pattern):
    name, *rest = command.split()
    result = run(name, "planar4", *rest, *words.split())
    assert re.fullmatch(f"error: planar4: {pattern}", line_of(result))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words, key", [((), "closure"), (("--closure", "minimum-norm"), "--closure")]
)
def test_a_pose_that_would_drift_is_not_tracked(run, words, key):
    line = line_of(run("simulate", "four-cable", "--kernel", "track", *words))
    assert line == (
        f"error: four-cable: {key}: drifts away while it reproduces every length, so it is not "
        "tracked; expected attitude or equilibrium; got minimum-norm"
    )


@pytest.mark.parametrize(
    "words, pattern",
    [
        ("--kernel track --sample-rate fast", "cannot be read; expected a number; got 'fast'"),
        (
            "--kernel track --sample-rate 50",
            "is out of range; expected 200 to 100000 Hz; got 50 Hz",
        ),
        ("--kernel step --sample-rate 1000", "has no meaning; expected .*: track; got kernel step"),
        (
            "--kernel track --sample-rate 100000 --clock 5",
            r"is more than the hardware keeps up with; expected at most \d+.* Hz \(a sample takes "
            r"\d+ cycles at 5 MHz\), or a smaller --ii; got 100000 Hz",
        ),
    ],
)
def test_a_sample_rate_that_cannot_be_is_named(run, words, pattern):
    line = line_of(run("check", "planar4", *words.split()))
    assert re.fullmatch(f"error: planar4: --sample-rate: {pattern}", line)


def test_an_unknown_preset_is_named(run):
    line = line_of(run("check", "four-cable", "--preset", "zynq"))
    wrong = "is unknown, did you mean zynq7020; expected one of zynq7020; got 'zynq'"
    assert line == f"error: four-cable: --preset: {wrong}"


@pytest.mark.parametrize(
    "words, pattern",
    [
        ("simulate planar4 --simulator vcs", r"--simulator: is unknown; expected one of .*'vcs'"),
        (
            "simulate planar4 --vectors 0",
            r"--vectors: is out of range; expected 1 to 1000000; got 0",
        ),
        ("simulate planar4 --seed -1", r"--seed: is out of range; expected 0 to \d+; got -1"),
        ("generate planar4 -o x --vectors no", r"--vectors: cannot be read; .*; got 'no'"),
        (
            "synth planar4 --route",
            r"--route: places and routes ECP5 chips only; expected .*ecp5-85k.*",
        ),
        ("solve planar4 in.csv --engine gpu", r"--engine: is unknown; expected one of float, .*"),
        ("solve planar4 in.csv --damping no", r"--damping: is unknown.*; expected one of none, .*"),
        ("solve planar4 in.csv --lambda 2", r"--lambda: is out of range; expected 0 to 1; got 2"),
    ],
)
def test_a_bad_option_of_one_command_is_named(run, words, pattern):
    assert re.fullmatch(f"error: planar4: {pattern}", line_of(run(*words.split())))


@pytest.mark.parametrize(
    "old, new, pattern",
    [
        ('kind = "cable"', 'kind = "cable"\ncolour = "red"', r"colour: .*"),
        (SECOND, 'anchor = ["5", -4.0, 6.0]', r"cable\[2\].anchor.*: .*"),
        (SECOND, "anchor = [-5.0, -4.0, 6.0]", r".*anchor.*: .*"),
        ("attachment = [0.6, -0.2, 0.2]", "attachment = [0.6, -0.2]", r"cable\[2\].attachment: .*"),
    ],
)
def test_a_bad_robot_file_is_named_with_its_key(run, tmp_path, old, new, pattern):
    (tmp_path / "crane.toml").write_text(edit(CRANE, old, new))
    for words in (["check"], ["generate", "-o", "out"], ["simulate"], ["synth"]):
        command, *rest = words
        text = line_of(run(command, "crane.toml", *rest))
        assert re.fullmatch(f"error: crane.toml: {pattern}; expected .*; got .*", text)
    assert [file.name for file in tmp_path.iterdir()] == ["crane.toml"]


@pytest.mark.parametrize("words", ["generate -o out", "simulate", "synth", "solve no.csv", "check"])
def test_what_a_kernel_misses_in_a_robot_file_is_named_with_the_file(run, tmp_path, words):
    (tmp_path / "crane.toml").write_text(edit(CRANE, "mass = 85.0\n", ""))
    command, *rest = words.split()
    result = run(command, "crane.toml", *rest, "--kernel", "tension")
    wrong = "crane.toml: platform.mass: is missing; expected the mass that the cables carry, in kg;"
    assert wrong in " ".join(result.output.split())
    if command != "check":
        assert line_of(result) == f"error: {wrong} got no such key"
    assert [file.name for file in tmp_path.iterdir()] == ["crane.toml"]


@pytest.mark.parametrize(
    "text, pattern",
    [
        (LENGTHS + "1,1,nan,1\n", r"row 1, L3: is not finite; .*; got 'nan'"),
        (LENGTHS + "1,1,1,1\n1,one,1,1\n", r"row 2, L2: is no number; .*; got 'one'"),
        (LENGTHS + "1,1,1,0\n", r"row 1, L4: is not positive; expected a number above 0; got '0'"),
        (
            LENGTHS + "1,1,1,-2\n",
            r"row 1, L4: is not positive; expected a number above 0; got '-2'",
        ),
        (
            "L1,L2,L3\n1,1,1\n",
            r"L4: is a missing column; expected the columns L1, .*; got L1, L2, L3",
        ),
        ("L1,L2,L3,L4,x\n1,1,1,1,1\n", r"x: is an unknown column, did you mean x0; .*; got 'x'"),
        (
            "L1,L2,L3,L4,x0,y0\n1,1,1,1,0,0\n",
            r"theta0: is a missing column; expected all of x0, y0, theta0, or none .*; got x0, y0",
        ),
        (
            "L1,L2,L3,L4,lambda\n1,1,1,1,-1\n",
            r"row 1, lambda: is out of range; expected 0 to 1; got -1.0",
        ),
    ],
)
@pytest.mark.parametrize("engine", ["float", "fixed", "rtl"])
def test_a_bad_csv_file_is_named_with_its_row(run, tmp_path, text, pattern, engine):
    (tmp_path / "in.csv").write_text(text)
    (tmp_path / "out.csv").write_text("before")
    result = run("solve", "planar4", "in.csv", "-o", "out.csv", "--engine", engine)
    assert re.fullmatch(f"error: in.csv: {pattern}", line_of(result))
    assert (tmp_path / "out.csv").read_text() == "before"


def test_lambda_is_given_once(run, tmp_path):
    (tmp_path / "in.csv").write_text("L1,L2,L3,L4,lambda\n1,1,1,1,0\n")
    text = line_of(run("solve", "planar4", "in.csv", "--lambda", "0.1"))
    expected = "is given twice; expected either the column or the option; got both"
    assert text == f"error: planar4: --lambda: {expected}"


def test_an_output_that_cannot_be_written_is_named(run, tmp_path):
    (tmp_path / "file").write_text("")
    text = line_of(run("generate", "planar4", "-o", "file/out"))
    assert re.fullmatch(r"error: file/out: DIR: cannot be written; .*file, which is no dir.*", text)
    (tmp_path / "in.csv").write_text(LENGTHS + "1,1,1,1\n")
    text = line_of(run("solve", "planar4", "in.csv", "-o", "none/out.csv"))
    assert re.fullmatch(r"error: none/out.csv: file: cannot be written; .*; got No such .*", text)


@pytest.mark.parametrize(
    "content, pattern",
    [
        (None, r"is missing; expected a directory that generate wrote; got a directory without it"),
        ("{", r"is broken; expected a directory that generate wrote; got 'JSONDecodeError: .*"),
        ("[]", r"is broken; .*; got 'TypeError: .*"),
        ('{"robot": {}}', r"is broken; .*; got \"KeyError: 'facts'\""),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "synth"])
def test_a_directory_that_is_no_package_is_named(run, tmp_path, command, content, pattern):
    (tmp_path / "made").mkdir()
    if content is not None:
        (tmp_path / "made" / "manifest.json").write_text(content)
    assert re.fullmatch(f"error: made: manifest.json: {pattern}", line_of(run(command, "made")))


def test_a_generated_directory_takes_no_other_options(run, tmp_path):
    made = run("generate", "hangprinter", "-o", "made", "--kernel", "lengths", "--vectors", "5")
    assert made.exit_code == 0
    text = line_of(run("simulate", "made", "--ii", "2"))
    wrong = "differs from what the directory was generated with"
    assert text == f"error: made: --ii: {wrong}; expected 4; got 2"
    text = line_of(run("simulate", "made", "--simulator", "amaranth"))
    assert re.fullmatch(r"error: made: --simulator: reads no Verilog, .*; got amaranth", text)
    (tmp_path / "made" / "hangprinter_lengths.v").unlink()
    text = line_of(run("synth", "made"))
    assert re.fullmatch(
        r"error: made: hangprinter_lengths.v: is missing; .*; got no such file", text
    )


def test_a_missing_tool_says_how_to_install_it(run, monkeypatch):
    monkeypatch.setenv("PATH", "")
    text = line_of(run("simulate", "hangprinter", "--simulator", "icarus"), status=1)
    assert text == "error: iverilog is not installed: apt install iverilog"

    def missing(*words):
        raise ToolMissing("yosys is not installed: pip install pyosys")

    monkeypatch.setattr(hardware, "synthesise", missing)
    text = line_of(run("synth", "hangprinter", "--kernel", "lengths"), status=1)
    assert text == "error: yosys is not installed: pip install pyosys"


def test_an_interruption_leaves_nothing_half_written(run, tmp_path, monkeypatch):
    def interrupted(design, vectors, directory):
        (directory / "half.v").write_text("module")
        raise KeyboardInterrupt

    monkeypatch.setattr(package, "write_files", interrupted)
    result = run("generate", "hangprinter", "-o", "made", "--kernel", "lengths", "--vectors", "5")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == "error: interrupted"
    assert list(tmp_path.iterdir()) == []


def test_a_bug_of_ours_is_not_called_bad_input(run, monkeypatch):
    def broken(*words, **options):
        raise AssertionError("ours")

    monkeypatch.setattr(api, "analyse", broken)
    assert isinstance(run("check", "planar4").exception, AssertionError)
