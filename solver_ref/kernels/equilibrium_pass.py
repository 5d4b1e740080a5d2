"""One pass of `forward` with the closure `equilibrium`: lengths -> pose AND cable tensions.

A pass measures how far the pose and the force densities that it is given are from the lengths and
from the balance of forces, and takes one Newton step (`solver_ref.equilibrium_step`). Once both are
within their tolerances and the step is short, the pose behind it is given out. No step is undone,
as on the way to an equilibrium errors may have to grow; lambda, which damps the densities, shrinks
with each step. A failure returns the best pose that was seen.

Cables stretch under the tension that the pass before found, so that the stretch lags one step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver_ref.equilibrium_step import DAMPING_FACTOR
from solver_ref.fixed import FLAG, Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.iteration import Iteration
from solver_ref.kernels.domain import pose_inputs
from solver_ref.kernels.equilibrium_domain import EquilibriumDomain
from solver_ref.kernels.equilibrium_graph import HELD, EquilibriumGraph, Stepped
from solver_ref.kernels.forward_health import radius_format
from solver_ref.kernels.kind import residual_names
from solver_ref.kernels.ports import status_word
from solver_ref.status import Status

COUNT = Format(False, 5, 0)


@dataclass(frozen=True)
class _State:
    """What travels from pass to pass. `best_error`: the smallest of all passes, the larger of
    residual and unbalanced wrench (m)."""

    pose: list[Fixed]
    densities: list[Fixed]
    tensions: list[Fixed]
    best: dict[str, Fixed]
    best_error: Fixed
    damping: Fixed
    count: Fixed
    outside: Fixed


@dataclass(frozen=True)
class _Verdict:
    """Flags about the pose of a pass, and its error (m)."""

    error: Fixed
    better: Fixed
    converged: Fixed
    last: Fixed


class EquilibriumPass(EquilibriumGraph):
    """Builds the graph of one pass."""

    def __init__(self, domain: EquilibriumDomain, limit: int) -> None:
        super().__init__(domain)
        self.limit = limit
        signed = Format(True, self.error_format.integer + 1, self.error_format.fraction)
        self.result_formats |= dict.fromkeys(residual_names(self.robot), signed)

    def build(self) -> Iteration:
        state = self._state()
        damping = self.m.clamp(state.damping, 0.0, 1.0, "lambda")
        step = self.step(state.pose, state.densities, self.lengths(state.tensions), damping)
        verdict = self._judge(state, step, damping)
        following = self._following(state, step, verdict, damping)
        results = self._results(state, following, step, verdict)
        outputs = {f"next_{name}": value for name, value in following.items()} | results
        return self._iteration(outputs)

    def _state(self) -> _State:
        m = self.m
        return _State(
            pose=pose_inputs(m, self.robot),
            densities=[m.input(f"p{i}", self.own.density_format()) for i in self.cables],
            tensions=[m.input(f"pull{i}", self.own.tension_format()) for i in self.cables],
            best={n: m.input(f"best_{n}", form) for n, form in self.result_formats.items()},
            best_error=m.input("best_error", self.error_format),
            damping=m.input("damping", self.damping_format),
            count=m.input("count", COUNT),
            outside=m.input("outside", FLAG),
        )

    def _judge(self, state: _State, step: Stepped, damping: Fixed) -> _Verdict:
        m, limits = self.m, self.own.tolerances
        converged = [
            self.at_most(step.residual, limits.residual),
            self.at_most(step.unbalanced, limits.unbalanced),
            self.at_most(step.size, limits.step),
            self.at_most(damping, limits.damping),
            m.negation(m.any(m.flagged(*HELD))),
        ]
        if math.isfinite(limits.tension):
            changes = [new - old for new, old in zip(step.tensions, state.tensions, strict=True)]
            change = m.maximum([m.absolute(x) for x in changes])
            converged.append(self.at_most(change, limits.tension))
        error = m.maximum([step.residual, step.unbalanced])
        return _Verdict(
            error=error,
            better=m.negation(m.less(state.best_error, error)),
            converged=m.every(*converged),
            last=m.negation(m.less(state.count, self.limit)),
        )

    def _following(
        self, state: _State, step: Stepped, verdict: _Verdict, damping: Fixed
    ) -> dict[str, Fixed]:
        m, bits = self.m, self.own.profile.damping.bits
        result = dict(zip(self.robot.coordinates, step.pose, strict=True))
        for i, density, tension in zip(self.cables, step.densities, step.tensions, strict=True):
            result |= {f"p{i}": density, f"pull{i}": tension}
        here = [*state.pose, *state.tensions, step.residual, step.unbalanced, *step.residuals]
        for (name, old), new in zip(state.best.items(), here, strict=True):
            result[f"best_{name}"] = m.select(verdict.better, new, old)
        result["best_error"] = m.select(verdict.better, verdict.error, state.best_error)
        result["damping"] = damping.scaled(round(math.log2(DAMPING_FACTOR))).narrow(bits)
        result["count"] = m.minimum([state.count + 1.0, m.builder.constant(float(COUNT.hi))])
        first = m.less(state.count, 1.0)
        beyond = m.every(first, m.any(m.flagged("beyond")))
        result["outside"] = m.any([state.outside, beyond])
        return result

    def _results(
        self, state: _State, following: dict[str, Fixed], step: Stepped, verdict: _Verdict
    ) -> dict[str, Fixed]:
        m, good, form = self.m, verdict.converged, radius_format(self.domain)
        here = [*step.pose, *step.tensions, step.residual, step.unbalanced, *step.residuals]
        results = {
            name: m.select(good, x, following[f"best_{name}"])
            for name, x in zip(self.result_formats, here, strict=True)
        }
        results["pivot"] = step.pivot
        unknown = form.hi * form.quantum
        results["radius"] = m.select(m.every(good, step.known), step.radius, unknown)
        results["iterations"] = state.count
        results["status"] = status_word(m, self._status(following, step, verdict))
        results["done"] = m.any([good, verdict.last])
        return results

    def _status(
        self, following: dict[str, Fixed], step: Stepped, verdict: _Verdict
    ) -> dict[Status, Fixed]:
        m, good = self.m, verdict.converged
        given_up = m.every(verdict.last, m.negation(good))
        far = m.negation(
            self.at_most(following["best_residual"], self.robot.accuracy.residual_limit)
        )
        held = m.every(given_up, m.any(m.flagged("moved", "tension")))
        outside = m.any([*m.flagged("length", "tilt"), following["outside"], held])
        return {
            Status.VALID: m.every(good, m.negation(outside)),
            Status.CONVERGED: good,
            Status.ITERATION_LIMIT: given_up,
            Status.NEAR_SINGULAR: m.any(m.flagged("singular")),
            Status.OUT_OF_RANGE: outside,
            Status.SLACK: step.slack,
            Status.NO_SOLUTION: m.every(given_up, m.any([far, step.slack])),
        }

    def _iteration(self, outputs: dict[str, Fixed]) -> Iteration:
        own, names = self.own, self.robot.coordinates
        poses, results = self.pose_formats, self.result_formats
        density, tension = own.density_format(), own.tension_format()
        formats = {f"next_{n}": poses[n] for n in names} | results
        formats |= {f"next_best_{name}": form for name, form in results.items()}
        formats |= {f"next_p{i}": density for i in self.cables}
        formats |= {f"next_pull{i}": tension for i in self.cables}
        formats |= {"next_damping": self.damping_format, "next_best_error": self.error_format}
        formats["radius"] = radius_format(self.domain)
        graph = self.m.builder.graph("forward", outputs, formats)
        initial = self._initial()
        return Iteration(
            graph=graph,
            state=tuple(initial),
            inputs=tuple(name for name in graph.inputs if name not in initial),
            initial=initial,
            done="done",
            results=(*results, "pivot", "radius", "iterations", "status"),
            max_passes=self.limit + 1,
            external={f"{n}0": poses[n] for n in names} | {"lambda": self.damping_format},
        )

    def _initial(self) -> dict[str, str | int]:
        """The first pass has the start pose, and in every cable the density of home."""
        own, names = self.own, self.robot.coordinates
        density = int(own.density_format().encode(own.density))
        initial: dict[str, str | int] = {n: f"{n}0" for n in names}
        initial |= {f"best_{n}": f"{n}0" for n in names}
        for i, pull in zip(self.cables, own.tensions, strict=True):
            first = int(own.tension_format().encode(pull))
            initial |= {f"p{i}": density, f"pull{i}": first, f"best_T{i}": first}
        errors = ("best_residual", "best_unbalanced", "best_error")
        initial |= dict.fromkeys(errors, self.error_format.hi)
        initial |= {f"best_{n}": self.result_formats[n].hi for n in residual_names(self.robot)}
        return initial | {"damping": "lambda", "count": 0, "outside": 0}
