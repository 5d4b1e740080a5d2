"""From a robot and generation options to Verilog: what each layer decided, in one object."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property

from hdl.pipeline import Pipeline
from hdl.ring import RingKernel
from hdl.schedule import Schedule, schedule
from hdl.shell import StreamKernel, StreamPorts
from hdl.target import Target, target
from hdl.verilog import verilog
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.iteration import Iteration, Ring
from solver_ref.kernels import KERNELS, KernelKind
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.profile import PROFILES
from solver_ref.robot import Robot
from solver_ref.split import split

DEFAULT_CLOCK_MHZ = {"xc7": 120.0, "ecp5": 100.0}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to generate. ValueError, in a full sentence, for an option that cannot be."""

    kernel: str = "step"
    ii: int = 4
    target: str = "xc7z020"
    profile: str = "fine"
    clock_mhz: float | None = None

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {self.kernel!r}")
        if self.profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {self.profile!r}")
        if not 1 <= self.ii <= 1024:
            raise ValueError(f"ii must be between 1 and 1024 clock cycles, not {self.ii}")
        if self.clock_mhz is not None and not 0 < self.clock_mhz <= 1000:
            raise ValueError(f"clock must be between 0 and 1000 MHz, not {self.clock_mhz}")
        target(self.target)


class Design:
    """The hardware of one robot under one set of options; every part is computed once."""

    TAG_WIDTH = 8

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot, self.options = robot, options

    @property
    def name(self) -> str:
        """The Verilog module's name."""
        return f"{self.robot.name}_{self.options.kernel}".replace("-", "_")

    @cached_property
    def target(self) -> Target:
        return target(self.options.target)

    @property
    def clock_mhz(self) -> float:
        return self.options.clock_mhz or DEFAULT_CLOCK_MHZ[self.target.family]

    @cached_property
    def domain(self) -> Domain:
        return Domain.of(self.robot, self.options.profile)

    @property
    def kind(self) -> KernelKind:
        return KERNELS[self.options.kernel]

    @cached_property
    def kernel(self) -> Kernel:
        return self.kind.trace(self.domain)

    @cached_property
    def graph(self) -> Graph:
        """The kernel's graph with every product cut to the target's multipliers."""
        return split(self.kernel.graph, self.target.multiplier_shape)

    @cached_property
    def schedule(self) -> Schedule:
        return schedule(self.graph, self.options.ii, self.target)

    @cached_property
    def iteration(self) -> Iteration | None:
        """`forward`'s iteration over the graph that the hardware runs."""
        iteration = self.kernel.iteration
        return iteration and dataclasses.replace(iteration, graph=self.graph)

    @property
    def ring(self) -> Ring | None:
        """`forward`'s exact cycle model."""
        return Ring(latency=self.schedule.latency, ii=self.options.ii) if self.iteration else None

    @property
    def inputs(self) -> dict[str, Format]:
        return self.iteration.fields if self.iteration else self.graph.inputs

    @property
    def outputs(self) -> dict[str, Format]:
        return self.iteration.result_formats if self.iteration else self.graph.output_formats

    @property
    def latency(self) -> int | None:
        """Clock edges from an input transfer to its output; None where it depends on the data."""
        return None if self.iteration else self.schedule.latency + StreamKernel.FIFO_LATENCY

    def component(self, *, behavioural: bool = False) -> StreamPorts:
        """A new Amaranth component; `behavioural` where no `kg_mul` module is at hand."""
        pipeline = Pipeline(self.graph, self.schedule, self.target, behavioural=behavioural)
        if self.iteration:
            return RingKernel(self.iteration, pipeline, tag_width=self.TAG_WIDTH)
        return StreamKernel(pipeline, tag_width=self.TAG_WIDTH)

    @property
    def canonical_options(self) -> dict[str, object]:
        """The options as they were resolved, with what the robot's file left to them."""
        return dataclasses.asdict(self.options) | {
            "clock_mhz": self.clock_mhz,
            "accuracy": self.robot.accuracy.length,
            "closure": self.robot.closure,
        }

    @cached_property
    def verilog(self) -> str:
        """The generated file: deterministic, with the options and the robot's digest on top."""
        header = (
            f"{self.name}: kernel {self.options.kernel} of the robot {self.robot.name}\n"
            f"options {json.dumps(self.canonical_options, sort_keys=True)}\n"
            f"robot sha256 {self.robot.digest}"
        )
        return verilog(self.component(), self.name, header)
