"""Robot files for tests: one of each sort of motion, to be edited into good and bad ones."""

import pytest

from solver_ref.robot_file import RobotError, loads

CRANE = """
name = "crane"
kind = "cable"
motion = "spatial"
[platform]
mass = 85.0
com = [0.0, 0.0, 0.1]
inertia = [[4.0, 0.0, 0.0], [0.0, 11.0, 0.0], [0.0, 0.0, 14.0]]
[[cable]]
anchor = [-5.0, -4.0, 6.0]
attachment = [-0.6, -0.2, 0.2]
tension_min = 20.0
tension_max = 12000.0
[[cable]]
anchor = [5.0, -4.0, 6.0]
attachment = [0.6, -0.2, 0.2]
[[cable]]
anchor = [5.0, 4.0, 6.0]
attachment = [0.6, 0.2, 0.2]
[[cable]]
anchor = [-5.0, 4.0, 6.0]
attachment = [-0.6, 0.2, 0.2]
[workspace]
position = [[-3.0, 3.0], [-2.5, 2.5], [0.5, 4.0]]
tilt = 0.35
home = [0.0, 0.0, 2.0]
start_error = [0.05, 0.05]
[accuracy]
length = 4e-6
"""
PLANAR = """
name = "frame"
kind = "cable"
motion = "planar-xy"
[platform]
mass = 5.0
inertia = 0.1
[[cable]]
anchor = [0, 0, 0]
attachment = [-0.5, -0.5, 0]
[[cable]]
anchor = [10, 0, 0]
attachment = [0.5, -0.5, 0]
[[cable]]
anchor = [10, 6, 0]
attachment = [0.5, 0.5, 0]
[workspace]
position = [[2, 8], [2, 4]]
tilt = 0.3
"""
POINT = """
name = "printer"
kind = "cable"
motion = "point"
[[cable]]
anchor = [0, -1, 0]
[[cable]]
anchor = [1, 1, 0]
[[cable]]
anchor = [-1, 1, 0]
[workspace]
position = [[-0.5, 0.5], [-0.5, 0.5], [0.1, 1]]
"""
SECOND = "anchor = [5.0, -4.0, 6.0]"
INERTIA = "inertia = [[4.0, 0.0, 0.0], [0.0, 11.0, 0.0], [0.0, 0.0, 14.0]]"


def edit(text: str, old: str, new: str) -> str:
    """`text` with the one place `old` replaced."""
    assert text.count(old) == 1
    return text.replace(old, new)


def line_of(text: str) -> str:
    """The line that a bad robot file gets."""
    with pytest.raises(RobotError) as caught:
        loads(text, file="crane.toml")
    assert "\n" not in str(caught.value)
    return str(caught.value)
