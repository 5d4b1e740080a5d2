"""lambda in a pass of `forward`, and in the next one, by its policy."""

from __future__ import annotations

from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.kernels.stopping import LEVEL_DAMPING, Policy


def effective_damping(
    m: TracedArithmetic, damping: Fixed, policy: Fixed, level: Fixed | None
) -> Fixed:
    """lambda of this pass: 0 for no damping, and enough of it while the attitude is held (flag
    `level`, None where it never is)."""
    damping = m.clamp(damping, 0.0, 1.0, "lambda")
    damping = m.select(m.less(policy, Policy.FIXED), 0, damping)
    if level is None:
        return damping
    return m.select(level, m.maximum([damping, m.builder.constant(LEVEL_DAMPING)]), damping)


def following_damping(
    m: TracedArithmetic, damping: Fixed, policy: Fixed, back: Fixed, bits: int
) -> Fixed:
    """lambda of the next pass, of `bits` fraction bits; `back`: the step was undone.

    Marquardt's shrinks with the step, before its success is known: a failure therefore multiplies
    by 64 what was divided by 8.
    """
    damping = m.clamp(damping, 0.0, 1.0, "lambda")
    least = m.builder.constant(2.0**-bits)
    smaller = m.maximum([damping.scaled(-3).narrow(bits), least])
    larger = m.minimum([damping.extended(bits).scaled(6).extended(bits), m.builder.constant(1.0)])
    tenth = (damping * m.builder.constant(0.1, bits)).narrow(bits)
    marquardt = m.select(back, larger, smaller)
    printed = m.select(back, tenth, damping)
    adapted = m.select(m.less(policy, Policy.SHRINK_ON_FAILURE), marquardt, printed)
    return m.select(m.less(policy, Policy.MARQUARDT), damping, adapted)
