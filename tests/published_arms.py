"""Serial arms with published numbers, retyped; each says where they come from."""

from __future__ import annotations

import numpy as np

from solver_ref.dynamics.links import Arm, Friction, Limits, Link, Matrix, Tip

ANY = Limits(position=(-np.pi, np.pi), speed=3.0, acceleration=10.0)


def rows(matrix: np.ndarray) -> Matrix:
    return tuple(tuple(row) for row in np.asarray(matrix, float).tolist())


def rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll), as URDF has it."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return z @ y @ x


# petercorke/robotics-toolbox-python, models/DH/Puma560.py: geometry d, a (m), alpha (degrees);
# mass, centre of mass and the diagonal of the inertia; motor: inertia, gear, viscous friction,
# Coulomb friction forward and backward.
PUMA_GEOMETRY = (
    (0.67183, 0, 90),
    (0, 0.4318, 0),
    (0.15005, 0.0203, -90),
    (0.4318, 0, 90),
    (0, 0, -90),
    (0, 0, 0),
)
PUMA_LINKS = (
    (0, (0, 0, 0), (0, 0.35, 0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
PUMA_MOTORS = (
    (200e-6, 62.6111, 1.48e-3, (0.395, 0.435)),
    (200e-6, 107.815, 0.817e-3, (0.126, 0.071)),
    (200e-6, 53.7063, 1.38e-3, (0.132, 0.105)),
    (33e-6, 76.0364, 71.2e-6, (11.2e-3, 16.9e-3)),
    (33e-6, 71.923, 82.6e-6, (9.26e-3, 14.5e-3)),
    (33e-6, 76.686, 36.7e-6, (3.96e-3, 10.5e-3)),
)


def puma560() -> Arm:
    """The Puma 560 of those standard Denavit-Hartenberg rows; its tip is the last of the frames."""
    links, turn, origin = [], np.eye(3), np.zeros(3)
    table = zip(PUMA_GEOMETRY, PUMA_LINKS, PUMA_MOTORS, strict=True)
    for i, ((d, a, alpha), (mass, com, inertia), motor) in enumerate(table, 1):
        rotor, gear, viscous, coulomb = motor
        cosine, sine = round(np.cos(np.radians(alpha))), round(np.sin(np.radians(alpha)))
        end = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]], float)
        link = Link(
            name=f"link{i}",
            axis=(0.0, 0.0, 1.0),
            origin=tuple(origin.tolist()),
            rotation=rows(turn),
            mass=float(mass),
            com=tuple((end @ np.array(com) + [a, 0, d]).tolist()),
            inertia=rows(end @ np.diag(inertia) @ end.T),
            rotor=rotor * gear**2,
            friction=Friction(
                viscous=viscous * gear**2,
                coulomb=tuple(c * gear for c in coulomb),
            ),
            limits=ANY,
        )
        links.append(link)
        turn, origin = end, np.array([a, 0.0, d])
    return Arm(links=tuple(links), tip=Tip(origin=tuple(origin.tolist()), rotation=rows(turn)))


SCREW_LENGTHS = np.array([np.sqrt(2), 1, 1])
"""The first published screw is no unit screw: its angle and torque are scaled by its length."""


def modern_robotics() -> Arm:
    """The three-link example in the docstrings of NxRLab/ModernRobotics.

    Every link's frame is parallel to the base's at angles 0, on the axis of its published screw.
    """
    centres = (
        (np.eye(3), (0, 0, 0.089159)),
        (np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), (0.28, 0.13585, 0)),
        (np.eye(3), (0, -0.1197, 0.395)),
        (np.eye(3), (0, 0, 0.14225)),
    )
    masses = (3.7, 8.393, 2.275)
    moments = (
        (0.010267, 0.010267, 0.00666),
        (0.22689, 0.22689, 0.0151074),
        (0.0494433, 0.0494433, 0.004095),
    )
    screws = ([1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425])
    links, turn, place, before = [], np.eye(3), np.zeros(3), np.zeros(3)
    for i, screw in enumerate(screws):
        rotation, way = centres[i]
        place, turn = place + turn @ np.array(way), turn @ rotation
        axis, linear = np.array(screw[:3], float), np.array(screw[3:], float)
        point = np.cross(axis, linear) / (axis @ axis)
        link = Link(
            name=f"link{i + 1}",
            axis=tuple((axis / np.linalg.norm(axis)).tolist()),
            origin=tuple((point - before).tolist()),
            mass=masses[i],
            com=tuple((place - point).tolist()),
            inertia=rows(turn @ np.diag(moments[i]) @ turn.T),
            limits=ANY,
        )
        links.append(link)
        before = point
    rotation, way = centres[3]
    tip = Tip(
        origin=tuple((place + turn @ np.array(way) - before).tolist()),
        rotation=rows(turn @ rotation),
    )
    return Arm(links=tuple(links), gravity=(0.0, 0.0, -9.8), tip=tip)


def spong() -> Arm:
    """The two-link arm of Spong, Hutchinson and Vidyasagar, p. 260, as robotics-toolbox-python has
    it in tests/test_ERobot.py: 1 m, 1 kg, centres at half, no link inertia, axes along y."""
    shoulder = Link(name="upper", axis=(0.0, 1.0, 0.0), mass=1.0, com=(0.5, 0.0, 0.0), limits=ANY)
    elbow = Link(
        name="fore",
        axis=(0.0, 1.0, 0.0),
        origin=(1.0, 0.0, 0.0),
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        limits=ANY,
    )
    return Arm(links=(shoulder, elbow))


# bulletphysics/bullet3, data/kuka_iiwa/model.urdf: xyz, rpy of the joint; mass, com, inertia.
HALF = 1.57079632679
IIWA = (
    ((0, 0, 0.1575), (0, 0, 0), 4, (0, -0.03, 0.12), (0.1, 0.09, 0.02)),
    ((0, 0, 0.2025), (HALF, 0, 2 * HALF), 4, (0.0003, 0.059, 0.042), (0.05, 0.018, 0.044)),
    ((0, 0.2045, 0), (HALF, 0, 2 * HALF), 3, (0, 0.03, 0.13), (0.08, 0.075, 0.01)),
    ((0, 0, 0.2155), (HALF, 0, 0), 2.7, (0, 0.067, 0.034), (0.03, 0.01, 0.029)),
    ((0, 0.1845, 0), (-HALF, 2 * HALF, 0), 1.7, (0.0001, 0.021, 0.076), (0.02, 0.018, 0.005)),
    ((0, 0, 0.2155), (HALF, 0, 0), 1.8, (0, 0.0006, 0.0004), (0.005, 0.0036, 0.0047)),
    ((0, 0.081, 0), (-HALF, 2 * HALF, 0), 0.3, (0, 0, 0.02), (0.001, 0.001, 0.001)),
)


def iiwa7() -> Arm:
    """The KUKA LBR iiwa 7 of those rows; joints about z."""
    links = [
        Link(
            name=f"link{i}",
            axis=(0.0, 0.0, 1.0),
            origin=xyz,
            rotation=rows(rpy(*angles)),
            mass=float(mass),
            com=com,
            inertia=rows(np.diag(inertia)),
            limits=ANY,
        )
        for i, (xyz, angles, mass, com, inertia) in enumerate(IIWA, 1)
    ]
    return Arm(links=tuple(links))
