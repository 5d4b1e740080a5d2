"""The stretch of a cable whose stiffness is loaded: the words that hardware takes for it.

The law of `solver_ref.elongation` between its thresholds is a polynomial in hardware. Its degree
and its argument are those of the cable that the hardware was made for; its coefficients are loaded,
as are the thresholds and 1/k_max. `codes` makes them of a stiffness.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.curves import HIGHEST_DEGREE, evaluated, fraction_bits, product
from solver_ref.elongation import second_region
from solver_ref.fixed import Range
from solver_ref.fixed_arithmetic import Fixed, FixedArithmetic
from solver_ref.graph import Parameter
from solver_ref.parameters import WORD_BITS
from solver_ref.parts import Stiffness

PARTS = ("k0", "alpha", "static_friction", "slip", "k_max")
UNITS = dict(zip(PARTS, ("N/m", "1/m", "N", "N", "N/m"), strict=True))
TOLERANCE = 0.25
"""How far each of them may be from the cable's own, as a share of it."""

ROOM = 1.05
"""What ranges of words have beyond the ends that are sampled."""

FLOAT = FloatArithmetic()


def given(own: Stiffness) -> tuple[str, ...]:
    """The parts that can be loaded: those that are there and not 0."""
    return tuple(part for part in PARTS if getattr(own, part))


def corners(own: Stiffness) -> Iterator[Stiffness]:
    """The stiffness with each part at either end of its tolerance, and itself."""
    yield own
    parts = given(own)
    for shares in itertools.product((1 - TOLERANCE, 1 + TOLERANCE), repeat=len(parts)):
        ends = zip(parts, shares, strict=True)
        yield replace(own, **{part: share * getattr(own, part) for part, share in ends})


@dataclass(frozen=True)
class LoadedStiffness:
    """In the place of a cable's `Stiffness` in a trace. `own`: the one that the hardware was made
    for; `number`: the cable's, from 1; `top`: the largest tension (N) of the law."""

    own: Stiffness
    number: int
    top: float

    @property
    def ends(self) -> tuple[float, float]:
        """Where the second region begins at least and ends at most (N)."""
        most = (1 + ROOM * TOLERANCE) * (self.own.slip or math.inf)
        return (1 - ROOM * TOLERANCE) * self.own.static_friction, min(self.top, most)

    @property
    def argument(self) -> tuple[float, int]:
        """Centre (N) and exponent of t = (T - centre) 2**-exponent, within +-1 from end to end."""
        low, high = math.floor(self.ends[0]), math.ceil(self.ends[1])
        return float((low + high) // 2), math.ceil(math.log2((high - low + 1) / 2))

    @property
    def domain(self) -> list[float]:
        """The ends as t."""
        centre, exponent = self.argument
        return [math.ldexp(end - centre, -exponent) for end in self.ends]

    def coefficients(self, stiffness: Stiffness, law: str, degree: int) -> np.ndarray:
        """Of t, lowest power first (m)."""
        fit = Chebyshev.interpolate(
            lambda t: self._law(t, stiffness, law), degree, domain=self.domain
        ).convert(kind=Polynomial)
        return np.pad(fit.coef, (0, degree + 1 - len(fit.coef)))

    def _law(self, t: np.ndarray, stiffness: Stiffness, law: str) -> np.ndarray:
        centre, exponent = self.argument
        tension = centre + np.ldexp(t, exponent)
        return second_region(FLOAT, tension, stiffness=stiffness, law=law)

    def degree(self, law: str, error: float) -> int:
        """The lowest one that is within `error` (m) of every law that can be loaded."""
        grid = np.linspace(*self.domain, 501)
        exact = [self._law(grid, stiffness, law) for stiffness in corners(self.own)]
        for degree in range(1, HIGHEST_DEGREE + 1):
            fits = [self.coefficients(s, law, degree) for s in corners(self.own)]
            apart = [
                np.abs(Polynomial(fit)(grid) - values).max()
                for fit, values in zip(fits, exact, strict=True)
            ]
            if max(apart) <= error:
                return degree
        raise ValueError(f"no polynomial of degree {HIGHEST_DEGREE} or less is within {error:.3g}")

    def elongation(self, m: FixedArithmetic, tension: Fixed, law: str, error: float) -> Fixed:
        """As `solver_ref.elongation.elongation`; thresholds are rounded to codes of the tension."""
        fraction = min(tension.range.fraction, WORD_BITS - 1 - math.frexp(self.top)[1])
        low = self._threshold(m, "static_friction", fraction)
        slip = self._threshold(m, "slip", fraction)
        centre, exponent = self.argument
        inside = tension if low is None else m.maximum([tension, low])
        inside = inside if slip is None else m.minimum([inside, slip])
        inside = inside.into(*self.ends, "saturate")
        argument = (inside - m.builder.constant(centre)).scaled(-exponent)
        degree = self.degree(law, error / 2)
        places = range(degree + 1)
        bits = fraction_bits(error / 2 / (2 * (degree + 1)))
        spread = np.array([self.coefficients(s, law, degree) for s in corners(self.own)])
        words = [self._word(m, f"stretch{self.number}_{k}", spread[:, k], bits) for k in places]
        second = evaluated(m, argument, words, error / 2)
        if slip is None:
            return second if low is None else self._from(m, tension, low, second, law)
        most = max(tension.range.magnitude, 1.0)
        compliance = [1 / s.k_max for s in corners(self.own)]
        bits = fraction_bits(error / (4 * most))
        factor = self._word(m, f"compliance_{self.number}", np.array(compliance), bits)
        if law == "printed":
            third = product(m, tension, factor, error / 2)
            beyond = m.select(m.less(slip, tension), third, second)
            return beyond if low is None else self._from(m, tension, low, beyond, law)
        above = m.maximum([tension - slip, m.builder.constant(0.0)])
        return second + product(m, above, factor, error / 2)

    @staticmethod
    def _from(m: FixedArithmetic, tension: Fixed, low: Fixed, value: Fixed, law: str) -> Fixed:
        """The printed law jumps to 0 below the static friction."""
        return m.select(m.less(tension, low), 0, value) if law == "printed" else value

    def _threshold(self, m: FixedArithmetic, part: str, fraction: int) -> Fixed | None:
        own = getattr(self.own, part)
        if not own:
            return None
        ends = np.array([own, (1 - TOLERANCE) * own, (1 + TOLERANCE) * own])
        return self._word(m, f"{part}_{self.number}", ends, fraction)

    @staticmethod
    def _word(m: FixedArithmetic, name: str, values: np.ndarray, fraction: int) -> Fixed:
        """A parameter that is the first of the values and may be any of them."""
        middle, reach = (values.max() + values.min()) / 2, ROOM * np.ptp(values) / 2
        lo, hi = (math.floor(math.ldexp(middle + end, fraction)) for end in (-reach, reach))
        span = Range(lo, hi + 1, fraction)
        initial = round(math.ldexp(values[0], fraction))
        return m.builder.add(Parameter(name, span.format, span.lo, span.hi, initial))

    def codes(
        self, stiffness: Stiffness, law: str, parameters: Mapping[str, Parameter]
    ) -> dict[str, int]:
        """The codes of the cable's words for another stiffness."""
        values = {
            f"{part}_{self.number}": getattr(stiffness, part)
            for part in ("static_friction", "slip")
        }
        if stiffness.k_max:
            values[f"compliance_{self.number}"] = 1 / stiffness.k_max
        stretch = [name for name in parameters if name.startswith(f"stretch{self.number}_")]
        if stretch:
            fit = self.coefficients(stiffness, law, len(stretch) - 1)
            values |= {f"stretch{self.number}_{k}": value for k, value in enumerate(fit)}
        known = {name: value for name, value in values.items() if name in parameters}
        return {
            name: round(math.ldexp(float(value), parameters[name].format.fraction))
            for name, value in known.items()
        }
