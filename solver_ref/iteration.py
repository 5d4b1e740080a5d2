"""Iterative solvers: one pass as a graph, its bit-true repetition, and the cycles it takes.

An `Iteration` says how the outputs of a pass become the inputs of the next one. `Ring` is the exact
cycle model of the hardware (`hdl.ring.RingKernel`) that keeps several solves in flight through one
pipeline; the hardware takes its sizes from it, so that the two cannot disagree.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from solver_ref.fixed import FLAG, Format, checked_codes
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate, narrowest
from solver_ref.parameters import parameter_codes

_CHUNK = 1 << 14  # rows evaluated at once: bounds the memory that a graph's values take


class PassLimitExceeded(ArithmeticError):
    """A row was not done after `max_passes`: the graph breaks its promise."""


@dataclass(frozen=True)
class Iteration:
    """A solver whose passes are all the same graph.

    *Fields*

    - ``graph``: one pass. Its inputs are exactly ``state`` and ``inputs``.
    - ``state``: names carried from pass to pass: input ``<s>``, output ``next_<s>`` of the same
      fraction, whose range lies inside the input's format.
    - ``inputs``: fields of the caller that stay the same over all passes of a solve.
    - ``initial``: what each state is in the first pass: the name of a field, or a constant code.
    - ``external``: formats of the caller's fields that only initialise a state.
    - ``done``: the 1-bit output that is 1 in the last pass of a solve.
    - ``results``: outputs that are the solve's result, valid in that pass.
    - ``max_passes``: the graph is done by then, whatever its inputs are.

    ValueError, naming the culprit, when these do not fit together.
    """

    graph: Graph
    state: tuple[str, ...]
    inputs: tuple[str, ...]
    initial: Mapping[str, str | int]
    done: str
    results: tuple[str, ...]
    max_passes: int
    external: Mapping[str, Format] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ports = self.graph.inputs
        if sorted(ports) != sorted(self.state + self.inputs):
            raise ValueError(
                f"state and inputs must be the graph's inputs {', '.join(ports)}, "
                f"not {', '.join(self.state + self.inputs)}"
            )
        if clash := set(self.external) & set(ports):
            raise ValueError(f"external fields {', '.join(sorted(clash))} are inputs of the graph")
        for name in (self.done, *self.results):
            self._output_format(name)
        if self._output_format(self.done) != FLAG:
            raise ValueError(f"done must be a flag, not {self._output_format(self.done)}")
        if self.max_passes < 1:
            raise ValueError(f"max_passes must be at least 1, not {self.max_passes}")
        for name in self.state:
            self._check_state(name)

    def _output_format(self, name: str) -> Format:
        formats = self.graph.output_formats
        if name not in formats:
            raise ValueError(f"the graph has no output {name!r}; it has {', '.join(formats)}")
        return formats[name]

    def _check_state(self, name: str) -> None:
        own = self.graph.inputs[name]
        _check_fit(f"next_{name}", self._output_format(f"next_{name}"), name, own)
        if name not in self.initial:
            raise ValueError(f"state {name!r} has no initial field or code")
        first = self.initial[name]
        if isinstance(first, int):
            if not own.lo <= first <= own.hi:
                raise ValueError(f"the initial code {first} of {name!r} is outside {own}")
        elif first not in self.fields:
            raise ValueError(f"state {name!r} starts from {first!r}, which is no field")
        else:
            _check_fit(first, self.fields[first], name, own)

    @property
    def fields(self) -> dict[str, Format]:
        """What the caller gives for a solve, in port order: `inputs`, then `external`."""
        return {name: self.graph.inputs[name] for name in self.inputs} | dict(self.external)

    @property
    def result_formats(self) -> dict[str, Format]:
        return {name: self.graph.output_formats[name] for name in self.results}


def _check_fit(source: str, given: Format, name: str, own: Format) -> None:
    if given.fraction != own.fraction or given.lo < own.lo or given.hi > own.hi:
        raise ValueError(f"{source} is {given}, which does not fit the state {name!r}, {own}")


def evaluate_iteration(
    iteration: Iteration, inputs: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Result codes by name and the number of passes, each of shape (n,), from field codes.

    Bit-true. Only rows that are not done are evaluated again. Codes of the graph's parameters may
    be among the inputs, of shape (n,) or (). ValueError for a missing field or a code outside its
    format, `PassLimitExceeded` for a row that needs more than `max_passes`.
    """
    codes = {name: _codes(name, form, inputs) for name, form in iteration.fields.items()}
    codes |= {
        name: parameter_codes(parameter, inputs)
        for name, parameter in iteration.graph.parameters.items()
    }
    count = max((len(code) for code in codes.values()), default=1)
    codes = {name: np.broadcast_to(code, (count,)) for name, code in codes.items()}
    chunks = [
        _solve(iteration, {name: code[at : at + _CHUNK] for name, code in codes.items()})
        for at in range(0, max(count, 1), _CHUNK)
    ]
    results = {
        name: np.concatenate([chunk[0][name] for chunk in chunks]) for name in iteration.results
    }
    return results, np.concatenate([chunk[1] for chunk in chunks])


def _codes(name: str, form: Format, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    if name not in inputs:
        raise ValueError(f"the solve needs a field {name!r}")
    return checked_codes(f"field {name!r}", inputs[name], form)


def _solve(
    iteration: Iteration, codes: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    count = max((len(code) for code in codes.values()), default=1)
    first = iteration.initial
    state = {
        name: codes[first[name]] if isinstance(first[name], str) else np.full(count, first[name])
        for name in iteration.state
    }
    constant = {name: codes[name] for name in (*iteration.inputs, *iteration.graph.parameters)}
    results = {name: np.zeros(count, dtype=object) for name in iteration.results}
    passes = np.zeros(count, dtype=np.int64)
    rows = np.arange(count)
    number = 0
    while rows.size:
        number += 1
        if number > iteration.max_passes:
            first_codes = {name: int(code[rows[0]]) for name, code in codes.items()}
            raise PassLimitExceeded(
                f"{iteration.graph.name} is not done after {iteration.max_passes} passes "
                f"from {first_codes}"
            )
        values = evaluate(iteration.graph, {**state, **constant})
        done = values[iteration.done].astype(bool)
        passes[rows[done]] = number
        for name, column in results.items():
            column[rows[done]] = values[name][done]
        rows = rows[~done]
        state = {name: values[f"next_{name}"][~done] for name in iteration.state}
        constant = {name: code[~done] for name, code in constant.items()}
    return {name: narrowest(column) for name, column in results.items()}, passes


@dataclass(frozen=True)
class Timing:
    """Clock cycles of each transfer, in order; cycle 0 is that of the first accepted input."""

    accept: np.ndarray
    present: np.ndarray

    @property
    def latency(self) -> np.ndarray:
        """Clock edges from accepting an input transfer to presenting its output."""
        return self.present - self.accept

    @property
    def ii(self) -> np.ndarray:
        """Clock cycles between accepted inputs (one fewer than there are transfers)."""
        return np.diff(self.accept)

    def summary(self) -> dict[str, float]:
        """`latency_min`, `_mean`, `_max` and `ii_min`, `_mean`, `_max`; empty ones are left out."""
        columns = {"latency": self.latency, "ii": self.ii}
        return {
            f"{name}_{kind}": float(function(column))
            for name, column in columns.items()
            if column.size
            for kind, function in (("min", np.min), ("mean", np.mean), ("max", np.max))
        }


@dataclass(frozen=True, kw_only=True)
class Ring:
    """The barrel of solves around a pipeline that takes a pass every `ii` cycles.

    `latency` is the pipeline's own, in clock edges. A pass that leaves it waits in one register
    until its position comes round, and one more register feeds the pipeline.
    """

    latency: int
    ii: int

    FEED = 1  # the register in front of the pipeline
    RETURN = 1  # the register behind it
    PRESENT = 2  # a result enters the reorder memory, and leaves it by a registered read

    def __post_init__(self) -> None:
        if self.latency < 1 or self.ii < 1:
            raise ValueError(f"latency and ii must be at least 1, not {self.latency}, {self.ii}")

    @property
    def positions(self) -> int:
        """Solves in flight."""
        return -(-(self.FEED + self.latency + self.RETURN) // self.ii)

    @property
    def round_cycles(self) -> int:
        """Clock cycles from one pass of a solve to its next one."""
        return self.positions * self.ii

    @property
    def places(self) -> int:
        """Results that the reorder memory holds: a power of two, at least twice `positions`."""
        return 1 << (2 * self.positions - 1).bit_length()

    def timing(self, passes: np.ndarray) -> Timing:
        """Cycles of transfers that take `passes` passes each, for a source that always offers one
        and a sink that is always ready. Exact.
        """
        passes = [int(count) for count in passes]
        if passes and min(passes) < 1:
            raise ValueError("every solve takes at least one pass")
        idle = list(range(self.positions))  # the turn at which each position is free again
        accept: list[int] = []
        leave: list[int] = []  # the cycle in which the place in the reorder memory is given back
        for number, count in enumerate(passes):
            held = leave[number - self.places] if number >= self.places else -1
            turn = self._next_turn(idle, held // self.ii + 1)
            heapq.heappush(idle, turn + count * self.positions)
            accept.append(turn * self.ii)
            written = (turn + count * self.positions) * self.ii
            leave.append(max(written, leave[-1] if leave else 0) + 1)
        present = np.array(leave, dtype=np.int64) + self.PRESENT - 1
        return Timing(np.array(accept, dtype=np.int64), present)

    def _next_turn(self, idle: list[int], earliest: int) -> int:
        """Takes the first free position from `earliest` on out of `idle`; gives its turn."""
        while idle[0] < earliest:
            late = earliest - idle[0]
            heapq.heapreplace(idle, idle[0] + -(-late // self.positions) * self.positions)
        return heapq.heappop(idle)
