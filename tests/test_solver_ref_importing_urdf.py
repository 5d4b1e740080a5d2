"""URDF: published arms as pinocchio reads them, and what is refused."""

import numpy as np
import pinocchio
import pytest
from numpy.testing import assert_allclose
from outside_data import outside

from kinegate import import_robot
from kinegate.tables import imported
from solver_ref.dynamics.serial import mass_matrix, torques
from solver_ref.errors import InputError
from solver_ref.importing import read_foreign
from solver_ref.robot_rules import InertiaWarning

BODY = (
    '<inertial><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)
# Fixed links before, between and beyond joints, a slide, and a joint without an axis.
ARM = f"""
<robot name="odd arm">
  <link name="world"/><link name="base">{BODY}</link>
  <joint name="stand" type="fixed"><origin xyz="0 0 1" rpy="0 0 0.5"/>
    <parent link="world"/><child link="base"/></joint>
  <joint name="turn" type="continuous"><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
    <parent link="base"/><child link="arm"/><limit velocity="2" effort="7"/></joint>
  <link name="arm">{BODY}</link>
  <joint name="glue" type="fixed"><origin xyz="0 0.2 0" rpy="0 -0.3 0"/>
    <parent link="arm"/><child link="plate"/></joint>
  <link name="plate">{BODY}</link>
  <joint name="slide" type="prismatic"><axis xyz="0 3 4"/><parent link="plate"/>
    <child link="hand"/><limit lower="-0.1" upper="0.4" velocity="1" effort="0"/>
    <dynamics damping="0.5" friction="0.25"/></joint>
  <link name="hand">{BODY}</link>
  <joint name="end" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <link name="tool"/>
</robot>
"""


def agrees_with_pinocchio(path) -> None:
    """The imported arm beside the other library's own reading of the file."""
    arm = read_foreign(path).robot.arm
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    rng = np.random.default_rng(0)
    state = rng.uniform(-2, 2, (3, 20, len(arm.links)))
    found, masses = torques(arm, *state, losses=False), mass_matrix(arm, state[0])
    turning = [joint.nq == 2 for joint in model.joints[1:]]  # continuous: cosine and sine
    for row in range(20):
        places = [
            [np.cos(q), np.sin(q)] if turns else [q]
            for q, turns in zip(state[0, row], turning, strict=True)
        ]
        q = np.concatenate(places)
        due = pinocchio.rnea(model, data, q, state[1, row], state[2, row])
        assert_allclose(found[row], due, rtol=0, atol=1e-9 * np.abs(due).max())
        upper = np.triu(pinocchio.crba(model, data, q))
        matrix = upper + np.triu(upper, 1).T
        assert_allclose(masses[row], matrix, rtol=0, atol=1e-9 * np.abs(matrix).max())


@pytest.mark.parametrize("name", ["ur5_rtb", "kinova_gen3_7dof", "double_pendulum_simple"])
def test_a_published_arm_has_pinocchios_torques(name: str) -> None:
    agrees_with_pinocchio(outside("arms", f"{name}.urdf"))


def test_an_inertia_that_no_body_has_is_kept_with_its_reason(tmp_path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(ARM.replace('izz="0.1"', 'izz="0.5"'), encoding="utf-8")
    with pytest.warns(InertiaWarning, match="accepted because: as in the source"):
        agrees_with_pinocchio(path)


def test_links_that_are_fixed_to_each_other_become_one(tmp_path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(ARM, encoding="utf-8")
    agrees_with_pinocchio(path)
    made = read_foreign(path, name="renamed")
    turn, slide = made.robot.arm.links
    assert (made.robot.name, turn.name, slide.joint) == ("renamed", "turn", "prismatic")
    assert turn.limits.position == (-np.pi, np.pi)
    assert (turn.limits.speed, turn.limits.effort, slide.limits.effort) == (2.0, 7.0, None)
    assert slide.limits.position == (-0.1, 0.4)
    assert (slide.friction.viscous, slide.friction.coulomb) == (0.5, (0.25, 0.25))
    assert "# not in the source: acceleration, position" in made.text


def test_the_iiwa14_without_inertia_is_refused_by_name() -> None:
    path = outside("arms", "iiwa14_no_inertia.urdf")
    with pytest.raises(InputError, match=r"link\['link_1'\]\.inertial: is missing"):
        read_foreign(path)


def test_the_panda_without_inertia_is_refused_by_name(tmp_path) -> None:
    """The first joints of Gepetto/example-robot-data's panda.urdf, which has no inertials."""
    joint = (
        '<joint name="panda_joint{0}" type="revolute"><origin xyz="{1}" rpy="{2} 0 0"/>'
        '<parent link="panda_link{3}"/><child link="panda_link{0}"/><axis xyz="0 0 1"/>'
        '<limit lower="{4}" upper="{5}" velocity="2.3925" effort="87"/></joint>'
    )
    joints = joint.format(1, "0 0 0.333", 0, 0, -2.9671, 2.9671)
    joints += joint.format(2, "0 0 0", -1.57079632679, 1, -1.8326, 1.8326)
    links = "".join(f'<link name="panda_link{i}"/>' for i in range(3))
    path = tmp_path / "panda.urdf"
    path.write_text(f'<robot name="panda">{links}{joints}</robot>', encoding="utf-8")
    with pytest.raises(InputError, match=r"link\['panda_link1'\]\.inertial: is missing"):
        read_foreign(path)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("prismatic", "floating", "joint['slide'].type: cannot be represented"),
        ('<axis xyz="0 3 4"/>', '<axis xyz="0 0 0"/>', "joint['slide'].axis: has no direction"),
        ('<axis xyz="0 3 4"/>', '<mimic joint="turn"/>', "joint['slide'].mimic: cannot be"),
        ('parent link="plate"', 'parent link="plat"', "joint['slide'].parent: is no link"),
        ('child link="tool"', 'child link="arm"', "joint['end'].child: has a second joint"),
        ('parent link="hand"', 'parent link="tool"', "joint['end']: leads nowhere"),
        ('name="end" type="fixed"', 'name="end" type="revolute"', "link['tool'].inertial: is miss"),
        ('name="glue" type="fixed"', 'name="glue" type="continuous"', ""),
        ('<mass value="1"/>', '<mass value="heavy"/>', "link['arm'].inertial.mass"),
    ],
)
def test_what_cannot_be_represented_is_refused_by_name(
    tmp_path, old: str, new: str, line: str
) -> None:
    path = tmp_path / "odd.urdf"
    assert old in ARM
    path.write_text(ARM.replace(old, new), encoding="utf-8")
    if not line:  # one joint more is no mistake
        assert len(read_foreign(path).robot.arm.links) == 3
        return
    with pytest.raises(InputError) as caught:
        read_foreign(path)
    assert line in str(caught.value)


def test_a_chain_that_branches_is_refused(tmp_path) -> None:
    path = tmp_path / "odd.urdf"
    more = f'<link name="thumb">{BODY}</link><joint name="thumb" type="revolute">'
    more += '<parent link="arm"/><child link="thumb"/></joint></robot>'
    path.write_text(ARM.replace("</robot>", more), encoding="utf-8")
    with pytest.raises(InputError, match="the chain branches; expected one joint"):
        read_foreign(path)


def test_the_command_tells_of_joints_and_not_of_a_workspace(tmp_path, capsys) -> None:
    path, output = tmp_path / "odd.urdf", tmp_path / "odd.toml"
    path.write_text(ARM, encoding="utf-8")
    made = import_robot(path, output)
    assert (made["kind"], made["joints"], made["cables"]) == ("serial", 2, 0)
    assert output.read_text(encoding="utf-8") == made["text"]
    imported(made)
    told = capsys.readouterr().out
    assert "joints" in told and "workspace" not in told


def test_an_arm_takes_no_workspace(tmp_path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(ARM, encoding="utf-8")
    with pytest.raises(InputError, match="tilt: has no meaning"):
        read_foreign(path, tilt=0.1)
