"""`--shell axi` on the command line: what is written, that it simulates, what is refused."""

import json

import pytest
from click.testing import CliRunner

from kinegate.cli import main
from sim.tools import available

SMALL = ["--ii", "8", "--vectors", "20"]


def run(*words):
    """The exit status, standard output and standard error of the command line."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A generated directory, and what the command said of it."""
    place = tmp_path_factory.mktemp("axi") / "out"
    status, told, _ = run(
        "generate", "hangprinter", "--shell", "axi64", "-o", place, *SMALL, "--json"
    )
    assert status == 0
    return place, json.loads(told)


def test_every_file_that_is_told_is_there(made):
    place, told = made
    assert {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()} == set(
        told["files"]
    )
    assert set(told["axi"]["files"].values()) < set(told["files"])
    assert "hangprinter_step_axi.v" in told["files"]


def test_the_manifest_has_the_words_of_a_packet(made):
    axi = made[1]["axi"]
    ports = made[1]["ports"]
    assert axi["words"]["in"] == [port["field"] for port in ports["in"]]
    assert axi["beats"] == {"in": 4, "out": 3}
    assert axi["registers"]["control.identity"] == 0


def test_the_directory_simulates_through_its_streams(made):
    if reason := available("icarus"):
        pytest.skip(reason)
    status, told, _ = run("simulate", made[0], "--simulator", "icarus", "--vectors", "20", "--json")
    figures = json.loads(told)
    assert (status, figures["mismatches"], figures["vectors"]) == (0, 0, 20)


def test_a_geometry_is_loaded_through_the_registers():
    if reason := available("icarus"):
        pytest.skip(reason)
    options = ("--kernel", "lengths", "--runtime-geometry", "--shell", "axi", *SMALL)
    status, told, _ = run("simulate", "hangprinter", *options, "--simulator", "icarus")
    assert status == 0
    assert told.endswith("\nbit-exact\n")


def test_a_shell_that_ends_no_packet_is_found(made, tmp_path):
    if reason := available("icarus"):
        pytest.skip(reason)
    place = tmp_path / "out"
    place.mkdir()
    for file in made[0].iterdir():
        if file.is_file():
            (place / file.name).write_bytes(file.read_bytes())
    verilog = place / "hangprinter_step_axi.v"
    text = verilog.read_text()
    broken = text.replace(".m_axis_tlast(m_axis_tlast)", ".m_axis_tlast()")
    verilog.write_text(broken)
    status, told, _ = run("simulate", place, "--simulator", "icarus", "--vectors", "5", "--json")
    assert broken != text
    assert (status, json.loads(told)["passed"]) == (1, False)


@pytest.mark.parametrize(
    "words, error",
    [
        (
            ("generate", "hangprinter", "--shell", "axy", "-o", "never"),
            "error: hangprinter: --shell: is unknown, did you mean axi; "
            "expected one of stream, axi, axi64; got 'axy'\n",
        ),
        (
            ("simulate", "hangprinter", "--shell", "axi", "--simulator", "amaranth"),
            "error: hangprinter: --simulator: runs kernels with their own streams only; "
            "expected verilator or icarus with this shell; got amaranth\n",
        ),
    ],
)
def test_what_cannot_be_is_one_line(words, error):
    status, told, complaint = run(*words)
    assert (status, told, complaint) == (2, "", error)


def test_a_directory_says_which_shell_it_has(made):
    status, _, complaint = run("simulate", made[0], "--shell", "axi")
    assert status == 2
    assert complaint.endswith("expected 'axi64'; got 'axi'\n")
