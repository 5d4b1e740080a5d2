"""Angles over two turns: their sines and cosines are right to the quanta that are promised."""

import numpy as np
import pytest

from solver_ref.dynamics.kj9 import KJ9
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.kernels.dynamics_profile import DynamicsProfile
from solver_ref.kernels.quarter_turns import QuarterTurnArithmetic


@pytest.mark.parametrize("accuracy", [4e-3, 0.5])
def test_sines_and_cosines_are_within_two_quanta(accuracy: float) -> None:
    profile = DynamicsProfile.choose(KJ9, accuracy, step=1e-5, speed=20.0, torque=20.0)
    m = QuarterTurnArithmetic(profile, tilt=1.0, largest_tilt=1.0)
    form = Format(True, 4, profile.angle.bits)
    angle = m.clamp(m.input("angle", form), -6.3, 6.3)
    graph = m.builder.graph(
        "turns", dict(zip(("sine", "cosine"), m.sine_cosine(angle, "sine"), strict=True))
    )
    # The corners between eighths of a turn and what is beside them first.
    corners = np.concatenate([np.arange(-8, 9) * np.pi / 4, [-6.3, 6.3, 0.0]])
    beside = (corners[:, None] + np.linspace(-0.02, 0.02, 41)).ravel()
    drawn = np.random.default_rng(7).uniform(-6.3, 6.3, 20_000)
    codes = form.encode(np.clip(np.concatenate([beside, drawn]), -6.3, 6.3))
    found, exact = evaluate(graph, {"angle": codes}), form.decode(codes)
    for name, truth in (("sine", np.sin(exact)), ("cosine", np.cos(exact))):
        off = np.abs(graph.output_formats[name].decode(found[name]) - truth)
        assert off.max() <= 2 * 2.0**-profile.sine.bits, name
