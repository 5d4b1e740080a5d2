"""Reach: whether the joint values of a pose exist and lie within their limits."""

from solver_ref.maps.field import Field, Quantity, Values
from solver_ref.maps.poses import Poses


class _Reach(Field):
    """Known everywhere: no NaN out of reach."""

    def measured(self, at: Poses) -> Values:
        return self.values(at)


def _values(at: Poses) -> Values:
    return {"reach": at.reached.astype(float)}


REACH = _Reach(
    name="reach",
    quantities=(Quantity(name="reach", title="reach", scale="truth"),),
    values=_values,
)
