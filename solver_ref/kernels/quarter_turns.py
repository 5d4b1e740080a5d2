"""Sine and cosine of angles over several turns: brought to an eighth of a turn about 0 first."""

from __future__ import annotations

import math

from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic

COARSE = 6
"""Fraction bits of an angle that tell its quarter."""
ROOM = 2.0**-4
"""How far past an eighth of a turn (rad) they may leave the rest."""
GUARD = 4


class QuarterTurnArithmetic(TracedArithmetic):
    """`TracedArithmetic` whose polynomials of angles are short."""

    def sine_cosine(self, angle: Fixed, role: str) -> tuple[Fixed, Fixed]:
        """Sine and cosine of an angle (rad); error two quanta of the role."""
        guarded = getattr(self.profile, role).bits + GUARD
        per_quarter = self.builder.constant(2 / math.pi, COARSE + GUARD)
        turned = (angle.narrow(COARSE) * per_quarter + 0.5).narrow(0)
        quarter = self.builder.constant(math.pi / 2, guarded)
        largest = math.pi / 4 + ROOM
        rest = self.proven((angle - turned * quarter).narrow(guarded), largest)
        sine, cosine = super().sine_cosine(rest, role)
        odd, half = self._lowest_bit(turned)
        back, _ = self._lowest_bit(half)
        first, second = self.select(odd, cosine, sine), self.select(odd, sine, cosine)
        away = self.select(odd, self.negation(back), back)
        return self.select(back, -first, first), self.select(away, -second, second)

    def _lowest_bit(self, whole: Fixed) -> tuple[Fixed, Fixed]:
        """That of an integer, as a flag, and half of what is left."""
        half = whole.scaled(-1).narrow(0)
        return (whole - half.scaled(1)).into(0.0, 1.0, "proven"), half
