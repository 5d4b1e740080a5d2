"""The kernels that hardware can be made of, one class each, by name."""

from solver_ref.kernels.by_closure import ByClosure
from solver_ref.kernels.computed_torque import ComputedTorque
from solver_ref.kernels.dynamics import Dynamics
from solver_ref.kernels.equilibrium_forward import EquilibriumForward
from solver_ref.kernels.equilibrium_update import EquilibriumStepKind
from solver_ref.kernels.forward import Forward
from solver_ref.kernels.kind import KernelKind
from solver_ref.kernels.lengths import Lengths
from solver_ref.kernels.rate import Rate
from solver_ref.kernels.rnea import Rnea
from solver_ref.kernels.step import StepKind
from solver_ref.kernels.tension import Tension
from solver_ref.kernels.track import Track

KERNELS: dict[str, KernelKind] = {
    kind.name: kind
    for kind in (
        Lengths(),
        ByClosure(StepKind(), EquilibriumStepKind()),
        ByClosure(Forward(), EquilibriumForward()),
        Track(),
        Tension(),
        Rate(),
        Rnea(),
        ComputedTorque(),
        Dynamics(),
    )
}

__all__ = ["KERNELS", "KernelKind"]
