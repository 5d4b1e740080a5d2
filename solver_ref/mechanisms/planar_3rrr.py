"""The planar 3-RRR: three chains of an active joint, a passive elbow and a passive platform joint.

A chain goes from its active joint at the anchor a by the proximal link to the elbow, and by the
distal link to the attachment. With d from anchor to attachment the elbow solves d.(cos q, sin q) =
k = (d.d + L1^2 - L2^2) / (2 L1), and the root h of d.d - k^2 says how bent the chain is: 0 where it
is straight or folded, the boundary of the reach |L1 - L2| <= |d| <= L1 + L2. Each chain has two
elbows, so that a pose has eight working modes. Nothing but the platform holds the elbows together.

(Gosselin and Angeles, The optimum kinematic design of a planar three-degree-of-freedom parallel
manipulator, J. Mech. Trans. Autom. Design 110(1), 1988.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

from solver_ref.arithmetic import Scalar
from solver_ref.dual import DualArithmetic
from solver_ref.dynamics import planar_robot
from solver_ref.moving_platform import MovingPlatform

KIND = "planar-3rrr"
MOTIONS = ("planar-xy",)
JOINTS = {"q1": "rad", "q2": "rad", "q3": "rad"}
CHAIN = {
    "anchor": ("m", 3),
    "attachment": ("m", 3),
    "proximal": "m",  # L1, from the active joint to the elbow
    "distal": "m",  # L2, from the elbow to the platform
    "mode": "1",  # the elbow is left (+1) or right (-1) of the way from anchor to attachment
}

DYNAMICS = planar_robot


def faults(geometry: SimpleNamespace) -> Iterator[tuple[str, str, object]]:
    """Keys whose values cannot be: what was expected, and what came."""
    for number, chain in enumerate(geometry.chains, 1):
        for name in ("proximal", "distal"):
            if getattr(chain, name) <= 0:
                yield f"chain[{number}].{name}", "above 0 m", getattr(chain, name)
        if chain.mode not in (1.0, -1.0):
            yield f"chain[{number}].mode", "1 or -1", chain.mode


def constraints(
    m: DualArithmetic, geometry: SimpleNamespace, platform: MovingPlatform, joints: Sequence[Scalar]
) -> Iterator[Scalar]:
    """How much longer (m, to first order) each distal link would have to be."""
    for chain, q in zip(geometry.chains, joints, strict=True):
        elbow, tip = _elbow(m, chain, q), platform.point(chain.attachment)
        x, y = tip[0] - elbow[0], tip[1] - elbow[1]
        yield (x * x + y * y - chain.distal**2) * (0.5 / chain.distal)


def inverse(
    m: DualArithmetic, geometry: SimpleNamespace, platform: MovingPlatform
) -> Iterator[Scalar]:
    """The active angles in the working mode of each chain: that of d, and of (k, +-h) beside it."""
    for chain in geometry.chains:
        tip = platform.point(chain.attachment)
        x, y = tip[0] - chain.anchor[0], tip[1] - chain.anchor[1]
        square = x * x + y * y
        k = (square + (chain.proximal**2 - chain.distal**2)) * (0.5 / chain.proximal)
        h = m.square_root(square - k * k) * chain.mode
        yield m.arctangent(y * k + x * h, x * k - y * h)


def links(
    m: DualArithmetic, geometry: SimpleNamespace, platform: MovingPlatform, joints: Sequence[Scalar]
) -> Iterator[list[Sequence[Scalar]]]:
    """Anchor, elbow and attachment of each chain."""
    for chain, q in zip(geometry.chains, joints, strict=True):
        yield [chain.anchor, [*_elbow(m, chain, q), 0.0], platform.point(chain.attachment)]


def _elbow(m: DualArithmetic, chain: SimpleNamespace, q: Scalar) -> list[Scalar]:
    sine, cosine = m.sine_cosine(q)
    x, y = chain.anchor[:2]
    return [x + chain.proximal * cosine, y + chain.proximal * sine]
