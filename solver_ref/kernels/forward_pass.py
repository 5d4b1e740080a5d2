"""`forward`: lengths and a start pose -> pose, by adaptive Levenberg-Marquardt.

One pass judges the pose that it is given and prepares the next: it measures the residuals there,
accepts the pose or goes back to the best one, and takes the next step. So the pose that comes out
is one whose residual the hardware measured itself; with least squares (more cables than unknowns,
or a measured attitude) it is that pose after one more step, shorter than the tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solver_ref.attitude import attitude_names, least_squares
from solver_ref.evaluation import evaluate
from solver_ref.fixed import Format
from solver_ref.fixed_arithmetic import Fixed
from solver_ref.functions import TracedArithmetic
from solver_ref.iteration import Iteration
from solver_ref.kernels.domain import Domain, pose_formats, pose_inputs, tracer
from solver_ref.kernels.forward_damping import effective_damping, following_damping
from solver_ref.kernels.forward_health import radius, radius_format
from solver_ref.kernels.kind import health_names, residual_names
from solver_ref.kernels.ports import (
    attitude_inputs,
    largest_residual,
    length_inputs,
    status_word,
    updated_pose,
)
from solver_ref.kernels.stopping import (
    LEVEL_LIMIT,
    SETTLED_DAMPING,
    Policy,
    Tolerances,
)
from solver_ref.levenberg_marquardt import levels_first
from solver_ref.orthogonal_step import take_step
from solver_ref.status import Status
from solver_ref.step import Step


@dataclass(frozen=True)
class _State:
    """What travels from pass to pass. `level`: the attitude is held; None where it never is."""

    pose: list[Fixed]
    best: list[Fixed]
    best_cost: Fixed
    best_residuals: list[Fixed]
    damping: Fixed
    count: Fixed
    level: Fixed | None
    outside: Fixed
    clamped: Fixed


@dataclass(frozen=True)
class _Seen:
    """What a pass measures and computes.

    `residual`: the largest of the lengths' `residuals`; `worst`: also of the attitude; `moved`: the
    pose behind the `step`; `radius`: of this pose, where it is `known`.
    """

    step: Step
    moved: list[Fixed]
    residuals: list[Fixed]
    residual: Fixed
    worst: Fixed
    cost: Fixed
    radius: Fixed
    known: Fixed


@dataclass(frozen=True)
class _Verdict:
    """Flags about the pose of this pass."""

    accept: Fixed
    converged: Fixed
    stalled: Fixed
    last: Fixed
    short: Fixed


class ForwardPass:
    """Builds the graph of one pass."""

    def __init__(self, domain: Domain, limit: int) -> None:
        self.domain, self.robot, self.limit = domain, domain.robot, limit
        self.m: TracedArithmetic = tracer(domain.robot, domain.profile)
        self.tolerances = Tolerances.of(domain)
        self.least_squares = least_squares(self.robot)
        self.measured = attitude_names(self.robot)
        self.levels = levels_first(self.robot)
        q = domain.profile.pose.bits
        self.cost_format = Format(False, 48 - 2 * q, 2 * q)
        self.residual_format = Format(False, 26 - (q + 3), q + 3)
        self.signed_format = Format(True, 27 - (q + 3), q + 3)
        self.radius_format = radius_format(domain)
        self.residuals = residual_names(self.robot)
        self.damping_format = Format(False, 1, domain.profile.damping.bits)

    @property
    def _top(self) -> float:
        """The largest residual (m) that its word holds."""
        return self.residual_format.hi * self.residual_format.quantum

    def build(self) -> Iteration:
        m = self.m
        lengths = length_inputs(m, self.domain)
        attitude = attitude_inputs(m, self.domain)
        policy = m.input("policy", Format(False, 2, 0))
        state = self._state()
        damping = effective_damping(m, state.damping, policy, state.level)
        seen = self._seen(state, lengths, attitude, damping)
        verdict = self._judge(state, seen, damping)
        following = self._next(state, verdict, policy, seen)
        results = self._results(state, following, verdict, seen)
        outputs = {f"next_{name}": value for name, value in following.items()} | results
        return self._iteration(outputs)

    def _seen(
        self, state: _State, lengths: list[Fixed], attitude: list[Fixed], damping: Fixed
    ) -> _Seen:
        m, robot, domain = self.m, self.robot, self.domain
        known = {"attitude": attitude, "level": state.level} | domain.ways(m)
        at = evaluate(m, robot, state.pose, lengths, **known)
        step = take_step(m, at, damping, domain.bounds, domain.profile.pose.bits + 3)
        moved = updated_pose(m, robot, state.pose, step.scaled)
        residuals = [m.clamp(e, -self._top, self._top, "unused") for e in at.residuals]
        residual = largest_residual(m, residuals)
        every = [*at.residuals, *at.turned]
        worst = largest_residual(m, every) if at.turned else residual
        cost = self._cost(every)
        reach = radius(m, domain, at, step, worst)
        return _Seen(step, moved, residuals, residual, worst, cost, *reach)

    def _state(self) -> _State:
        m, names = self.m, self.robot.coordinates
        pose = pose_inputs(m, self.robot)
        formats = pose_formats(self.robot, self.domain.profile)
        best = [m.input(f"best_{name}", formats[name]) for name in names]
        flag = Format(False, 1, 0)
        return _State(
            pose=pose,
            best=best,
            best_cost=m.input("best_cost", self.cost_format),
            best_residuals=[m.input(f"best_{n}", self.signed_format) for n in self.residuals],
            damping=m.input("damping", self.damping_format),
            count=m.input("count", Format(False, 5, 0)),
            level=m.input("level", flag) if self.levels else None,
            outside=m.input("outside", flag),
            clamped=m.input("clamped", flag),
        )

    def _cost(self, residuals: list[Fixed]) -> Fixed:
        """Sum of squared residuals, each limited to 25 bits."""
        m, q = self.m, self.domain.profile.pose.bits
        limited = [m.limit(e.narrow(q), 2.0 ** (24 - q), "unused") for e in residuals]
        total = m.total([e * e for e in limited])
        return m.clamp(total, 0.0, self.cost_format.hi * self.cost_format.quantum, "unused")

    def _judge(self, state: _State, seen: _Seen, damping: Fixed) -> _Verdict:
        m, quantum = self.m, self.domain.profile.pose.bits
        count = len(self.robot.joint_names) + len(self.measured)
        noise = m.builder.constant(count * 4.0 ** (1 - quantum), 2 * quantum)
        best = state.best_cost + noise
        if self.least_squares:
            # Measurements that contradict each other leave residuals e, whose rounding then counts:
            # 2 |e| quanta in each square.
            best = best + seen.worst.scaled(math.ceil(math.log2(2 * count)) - quantum)
        accept = m.negation(m.less(best, seen.cost))
        size = m.maximum([m.absolute(x) for x in seen.step.scaled])
        free = [] if state.level is None else [m.negation(state.level)]
        settled = m.every(accept, *free, m.less(damping, SETTLED_DAMPING))
        if self.least_squares:
            converged = m.every(settled, self._at_most(size, self.tolerances.step))
            stalled = m.builder.constant(0.0)
        else:
            converged = self._at_most(seen.residual, self.tolerances.residual)
            still = m.every(settled, self._at_most(size, 2.0**-quantum))
            stalled = m.every(still, m.negation(converged))
        last = m.negation(m.less(state.count, self.limit))
        short = self._at_most(size, self.robot.workspace.start_error[0] / 2)
        return _Verdict(accept, converged, stalled, last, short)

    def _at_most(self, value: Fixed, limit: float) -> Fixed:
        """Flag: value <= limit, the limit rounded to floor at the value's quantum."""
        fraction = value.range.fraction
        floor = math.floor(math.ldexp(limit, fraction)) * 2.0**-fraction
        return self.m.negation(self.m.less(floor, value))

    def _next(
        self, state: _State, verdict: _Verdict, policy: Fixed, seen: _Seen
    ) -> dict[str, Fixed]:
        m, names = self.m, self.robot.coordinates
        accept = verdict.accept
        adaptive = m.negation(m.less(policy, Policy.MARQUARDT))
        back = m.every(m.negation(accept), adaptive)
        best = [m.select(accept, x, b) for x, b in zip(state.pose, state.best, strict=True)]
        result = {
            name: m.select(back, b, x)
            for name, b, x in zip(names, state.best, seen.moved, strict=True)
        }
        result |= {f"best_{name}": b for name, b in zip(names, best, strict=True)}
        result["best_cost"] = m.select(accept, seen.cost, state.best_cost)
        for name, e, b in zip(self.residuals, seen.residuals, state.best_residuals, strict=True):
            result[f"best_{name}"] = m.select(accept, e, b)
        bits = self.domain.profile.damping.bits
        result["damping"] = following_damping(m, state.damping, policy, back, bits)
        result["count"] = m.minimum([state.count + 1.0, m.builder.constant(31.0)])
        if state.level is not None:
            enough = m.any([verdict.short, m.negation(m.less(state.count, float(LEVEL_LIMIT)))])
            result["level"] = m.every(state.level, m.negation(enough))
        first = m.less(state.count, 1.0)
        result["outside"] = m.any([state.outside, m.every(first, m.any(m.flags["beyond"]))])
        result["clamped"] = m.every(m.negation(back), m.any(m.flags.get("moved", [])))
        return result

    def _results(
        self, state: _State, following: dict[str, Fixed], verdict: _Verdict, seen: _Seen
    ) -> dict[str, Fixed]:
        m, good, form = self.m, verdict.converged, self.radius_format
        best = largest_residual(m, [following[f"best_{name}"] for name in self.residuals])
        best = best.into(0.0, self._top, "saturate")
        # A least-squares solve has just computed one more step, shorter than its tolerance.
        answer = seen.moved if self.least_squares else state.pose
        here = dict(zip(self.robot.coordinates, answer, strict=True))
        here |= dict(zip(self.residuals, seen.residuals, strict=True))
        results = {name: m.select(good, x, following[f"best_{name}"]) for name, x in here.items()}
        results["residual"] = m.select(good, seen.residual, best)
        results["pivot"] = seen.step.pivot
        unknown = form.hi * form.quantum
        results["radius"] = m.select(m.every(good, seen.known), seen.radius, unknown)
        results["iterations"] = state.count
        status = self._status(state, following, verdict, seen, best)
        results["status"] = status_word(m, status)
        results["done"] = m.any([good, verdict.stalled, verdict.last])
        return results

    def _status(
        self,
        state: _State,
        following: dict[str, Fixed],
        verdict: _Verdict,
        seen: _Seen,
        best: Fixed,
    ) -> dict[Status, Fixed]:
        m, good = self.m, verdict.converged
        failed = m.negation(good)
        over = m.negation(self._at_most(best, self.tolerances.limit))
        far = m.negation(self._at_most(seen.worst, self.tolerances.limit))
        limit = m.every(verdict.last, failed, m.negation(verdict.stalled))
        none = [verdict.stalled, m.every(limit, over)]
        none += [m.every(good, far)] if self.least_squares else []
        outside = [
            *m.flags.get("length", []),
            *m.flags.get("beyond" if self.robot.determined else "tilt", []),
            following["outside"],
            m.every(failed, state.clamped),
        ]
        status = {
            Status.CONVERGED: good,
            Status.ITERATION_LIMIT: limit,
            Status.NEAR_SINGULAR: m.any(m.flags.get("singular", [])),
            Status.OUT_OF_RANGE: m.any(outside),
            Status.NO_SOLUTION: m.any(none),
        }
        bad = m.any([status[Status.OUT_OF_RANGE], status[Status.NO_SOLUTION]])
        return {Status.VALID: m.every(good, m.negation(bad))} | status

    def _iteration(self, outputs: dict[str, Fixed]) -> Iteration:
        robot, names = self.robot, self.robot.coordinates
        poses = pose_formats(robot, self.domain.profile)
        formats = {
            f"{prefix}{n}": poses[n] for prefix in ("next_", "next_best_", "") for n in names
        }
        formats |= {
            f"{prefix}{n}": self.signed_format
            for prefix in ("next_best_", "")
            for n in self.residuals
        }
        formats |= {"next_best_cost": self.cost_format, "next_damping": self.damping_format}
        formats |= {"residual": self.residual_format, "radius": self.radius_format}
        graph = self.m.builder.graph("forward", outputs, formats)
        flags = {"outside": 0, "clamped": 0, "count": 0}
        flags |= {f"best_{n}": self.signed_format.hi for n in self.residuals}
        initial = {n: f"{n}0" for n in names} | {f"best_{n}": f"{n}0" for n in names}
        initial |= {"best_cost": self.cost_format.hi, "damping": "lambda"}
        external = {f"{n}0": poses[n] for n in names} | {"lambda": self.damping_format}
        if self.levels:
            initial |= {"level": "cold"}
            external |= {"cold": Format(False, 1, 0)}
        return Iteration(
            graph=graph,
            state=tuple(initial | flags),
            inputs=tuple(name for name in graph.inputs if name not in initial | flags),
            initial=initial | flags,
            done="done",
            results=(*names, *health_names(robot), "iterations", "status"),
            max_passes=self.limit + 1,
            external=external,
        )
