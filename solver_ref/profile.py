"""How precise each kind of value is: the choice that turns an asked accuracy into formats."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Fraction:
    """An absolute precision: `bits` after the binary point."""

    bits: int


@dataclass(frozen=True)
class Significant:
    """A relative precision: `bits` for the whole word, sign included, at the value's range."""

    bits: int


Precision = Fraction | Significant

OPERAND = 25
"""The widest operand that one multiplier of a 7-series part takes."""
LOOP_BITS = 3
"""How much finer than poses the values of loop equations are at least."""


@dataclass(frozen=True)
class Profile:
    """One precision per role that the equations name.

    `pose` is the quantum of poses and lengths (2**-bits m or rad); what leads to the residual is
    fine, what only steers the step is coarse, since the next step corrects it.
    """

    name: str
    pose: Fraction
    rotation: Fraction
    geometry: Fraction
    lever: Fraction
    vector: Fraction
    square: Fraction
    residual: Fraction
    damping: Fraction
    wrap: Fraction
    loop: Fraction
    inverse: Fraction
    sine: Fraction
    density: Fraction
    force: Fraction
    balance: Fraction
    guide: Significant
    rate: Significant
    jacobian: Significant
    moment: Significant
    unit: Significant
    gram: Significant
    factor: Significant
    right_side: Significant
    solution: Significant
    step: Significant
    gain: Significant
    weight: Significant
    reciprocal: Significant

    @classmethod
    def choose(
        cls,
        name: str,
        *,
        quantum: float,
        reach: float,
        lever: float = 1.0,
        radius: float = 1.0,
        operand: int = OPERAND,
    ) -> Profile:
        """The profile `fine` or `18bit` for a largest quantum (m), the largest component of a
        cable vector (m), the distance of the farthest attachment from the origin (m) and the
        radius of the largest pulley (m).

        The quantum is made finer as long as a component fits `operand` bits; more than 16 times
        finer would serve nobody.
        """
        if name not in PROFILES:
            raise ValueError(f"the profile must be one of {', '.join(PROFILES)}, not {name!r}")
        needed = math.ceil(-math.log2(quantum))
        integer = 1 + math.ceil(math.log2(reach))
        q = max(needed, min(operand - integer, needed + 4))
        turn = q + 3 + max(0, math.floor(math.log2(lever or 1.0)))
        wrap = q + 2 + math.ceil(math.log2(radius))
        wide = PROFILES[name]
        return cls(
            name=name,
            pose=Fraction(q),
            rotation=Fraction(turn),
            geometry=Fraction(q + 4),
            lever=Fraction(q + 3),
            vector=Fraction(q),
            square=Fraction(q + 5),
            residual=Fraction(q + 3),
            damping=Fraction(20),
            wrap=Fraction(wrap),
            loop=Fraction(q + LOOP_BITS),
            inverse=Fraction(q + LOOP_BITS),
            sine=Fraction(max(wrap + 2, 21)),
            density=Fraction(q + 8),
            force=Fraction(q + 4),
            balance=Fraction(q + 4),
            guide=Significant(22 if radius * 2.0**-17 <= 2.0**-q else 25),
            rate=Significant(18),
            jacobian=Significant(18),
            moment=Significant(18),
            unit=Significant(25),
            gram=Significant(wide),
            factor=Significant(wide),
            right_side=Significant(25),
            solution=Significant(wide),
            step=Significant(25),
            gain=Significant(18),
            weight=Significant(18),
            reciprocal=Significant(wide),
        )


@dataclass(frozen=True)
class OrthogonalProfile(Profile):
    """A profile with the roles of `solver_ref.orthogonal`; its words are long in any profile."""

    norm: Significant
    share: Significant
    remainder: Fraction
    answer: Significant

    @classmethod
    def of(cls, profile: Profile, *, remainder: int, **others: Precision) -> OrthogonalProfile:
        """Another profile's precisions, `remainder` bits behind the point of right sides, and what
        `others` says."""
        own = {name: getattr(profile, name) for name in profile.__dataclass_fields__}
        own |= dict.fromkeys(("gram", "reciprocal"), Significant(25))
        own |= {"norm": Significant(28), "share": Significant(27), "answer": ANSWER}
        own["remainder"] = Fraction(remainder)
        return cls(**own | others)


ANSWER = Significant(30)
"""Of solutions: two pieces of a multiplier's shorter operand, as 25 bits are."""

PROFILES = {"fine": 25, "18bit": 18}
"""Bits of the elimination by the profile's name."""
