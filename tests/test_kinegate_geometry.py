"""`--runtime-geometry` and the words of a robot that was measured again, from files to words."""

import dataclasses
import json
import re

import pytest

from hdl.design import Design
from hdl.options import Options
from kinegate import geometry_words, load
from kinegate.designs import OptionError
from solver_ref.errors import InputError
from solver_ref.kernels import KERNELS
from solver_ref.parameters import checksum

ROBOT = load("hangprinter")


def raised(by: float):
    """The robot with its first cable's anchor higher by so much (m)."""
    first = ROBOT.cables[0]
    x, y, z = first.anchor
    cables = (dataclasses.replace(first, anchor=(x, y, z + by)), *ROBOT.cables[1:])
    return dataclasses.replace(ROBOT, cables=cables)


@pytest.mark.parametrize("option", [(), ("--runtime-geometry",)])
def test_a_generated_directory_knows_whether_it_can_be_loaded(run, option):
    made = run(
        *("generate", "hangprinter", "--kernel", "lengths", "--vectors", "10", "-o", "out"),
        *("--json", *option),
    )
    assert made.exit_code == 0, made.output
    manifest = json.loads(made.stdout)
    assert bool(manifest["geometry"]) == bool(option)
    if not option:
        with pytest.raises(OptionError, match="out: runtime-geometry: differs from what"):
            geometry_words("out", ROBOT)
        return
    assert manifest["geometry"]["file"] in manifest["files"]
    words = geometry_words("out", ROBOT)
    assert f"{words[-1]:08x}" == manifest["geometry"]["checksum"]
    assert words == geometry_words("hangprinter", "hangprinter", kernel="lengths")
    other = geometry_words("out", raised(0.01))
    assert other != words and other[-1] == checksum(other[:-1])


def test_what_is_out_of_tolerance_is_refused_by_name():
    with pytest.raises(InputError, match=r"^hangprinter: anchor1_z: is out of .*; got [-\d.]+ m$"):
        geometry_words("hangprinter", raised(0.06))


def test_a_kernel_whose_geometry_is_built_in_says_so(run, monkeypatch):
    monkeypatch.setattr(KERNELS["track"], "loadable", ("lengths", "attitude"))
    result = run("synth", "four-cable-full", "--kernel", "track", "--runtime-geometry")
    assert result.exit_code == 2
    pattern = (
        "error: .*: --runtime-geometry: is not made for .*; expected attitude; got equilibrium"
    )
    assert re.fullmatch(pattern, result.stderr.strip()), result.stderr
    hung = load("four-cable-full")
    with pytest.raises(ValueError, match="the geometry of track .* equilibrium is built in"):
        Design(hung, Options(kernel="track", runtime_geometry=True))
