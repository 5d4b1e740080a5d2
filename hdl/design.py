"""From a robot and generation options to Verilog: what each layer decided, in one object."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from functools import cached_property

import numpy as np
from amaranth.lib import wiring

from hdl.axi_map import AxiInterface, Facts
from hdl.axi_shell import TAG_BITS, AxiShell
from hdl.folded.kernel import FoldedKernel
from hdl.folded.passes import Passes
from hdl.folded.stand import FoldedPipeline
from hdl.folded.team import Team, places
from hdl.folded.team_clock import TeamClock
from hdl.options import SERIAL, SHELLS, Options
from hdl.packing import Packing
from hdl.pipeline import Pipeline
from hdl.ring import RingKernel
from hdl.schedule import Plan, Schedule, combined, schedule
from hdl.sequence import SequenceKernel
from hdl.serial_map import SerialInterface
from hdl.serial_shell import TAG_BITS as SERIAL_TAG_BITS
from hdl.serial_shell import SerialShell
from hdl.shell import StreamKernel, StreamPorts
from hdl.target import Target, target
from hdl.uart import bit_cycles
from hdl.verilog import verilog
from solver_ref.fixed import Format
from solver_ref.graph import Graph, Parameter
from solver_ref.iteration import Iteration, Ring, Timing
from solver_ref.kernels import KERNELS, KernelKind
from solver_ref.kernels.corrections import stretches
from solver_ref.kernels.domain import Domain, Kernel
from solver_ref.parameters import words
from solver_ref.robot import Robot
from solver_ref.sequence import Offsets, Sequence
from solver_ref.split import split

MAIN = "prepare"
"""The long graph of a sequence, which shares its multipliers over II cycles."""
DEFAULT_CLOCK_MHZ = {"xc7": 120.0, "ecp5": 100.0, "ice40": 24.0}

FEEDBACK_CLOCK_MHZ = {"ecp5": 75.0}
"""Where a sequence's short path, with one register for each operation, is slower than usual."""


class Design:
    """The hardware of one robot under one set of options; every part is computed once."""

    TAG_WIDTH = 8

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot, self.options = robot, options
        if options.runtime_geometry and robot.closure not in self.kind.loadable:
            text = f"the geometry of {self.kind.name} with the closure {robot.closure} is built in"
            raise ValueError(f"{text}: runtime_geometry must be False")
        if self.is_serial:
            bit_cycles(clock_hz=self.clock_hz, baud=options.baud)

    @property
    def name(self) -> str:
        """The Verilog module's name."""
        shell = "_axi" if self.beat_bits else "_uart" if self.is_serial else ""
        return f"{self.robot.name}_{self.options.kernel}{shell}".replace("-", "_")

    @property
    def beat_bits(self) -> int:
        """Of the AXI streams; 0 without an AXI shell."""
        return SHELLS.get(self.options.shell, 0)

    @property
    def is_serial(self) -> bool:
        """Whether a serial line is around the kernel."""
        return self.options.shell == SERIAL

    @cached_property
    def target(self) -> Target:
        return target(self.options.target)

    @property
    def clock_mhz(self) -> float:
        if self.options.clock_mhz:
            return self.options.clock_mhz
        usual = DEFAULT_CLOCK_MHZ | (FEEDBACK_CLOCK_MHZ if self.kind.sampled else {})
        return usual[self.target.family]

    @property
    def clock_hz(self) -> float:
        return self.clock_mhz * 1e6

    @cached_property
    def domain(self) -> Domain:
        options = self.options
        return self.kind.domain(self.robot, options.profile, loaded=options.runtime_geometry)

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

    @cached_property
    def passes(self) -> Passes | None:
        """What a folded core does; None for a pipeline."""
        if not self.options.folded or self.kernel.sequence:
            return None
        if self.options.cores > 1 and not self.kernel.iteration:
            raise ValueError(
                f"cores must be 1 for {self.kind.name}, which takes one pass each time"
            )
        return Passes.of(self.kernel.graph, self.target, self.kernel.iteration)

    @cached_property
    def preparation(self) -> Passes | None:
        """What a folded core does for a sequence: its long graph."""
        if not self.options.folded or not self.kernel.sequence:
            return None
        if self.options.cores > 1:
            raise ValueError(f"cores must be 1 for {self.kind.name}, whose samples are in sequence")
        return Passes.of(self.kernel.graph, self.target)

    def timing(self, passes: np.ndarray) -> Timing:
        """Exact cycles of transfers of an iterative kernel that take so many passes each."""
        if self.passes:
            return self._folded_timing(passes)
        return Ring(latency=self.schedule.latency, ii=self.options.ii).timing(passes)

    def _folded_timing(self, passes: np.ndarray) -> Timing:
        if self.options.cores == 1:
            return self.passes.timing(passes)
        clock = TeamClock(
            cores=self.options.cores,
            places=places(self.options.cores),
            loads=len(self.passes.loads),
            cycles=self.passes.program.cycles,
        )
        return clock.timing(passes)

    @cached_property
    def sequence(self) -> Sequence | None:
        """`track`'s sequence over the graphs that the hardware runs."""
        sequence = self.kernel.sequence
        if sequence is None:
            return None
        shape = self.target.multiplier_shape
        graphs = {name: split(graph, shape) for name, graph in sequence.graphs.items()}
        return dataclasses.replace(sequence, graphs=graphs | {MAIN: self.graph})

    @cached_property
    def schedules(self) -> dict[str, Schedule]:
        """Of the graphs of a sequence: the long one every II cycles, the others at once."""
        main = {} if self.preparation else {MAIN: self.schedule}
        return main | {
            name: schedule(graph, 1, self.target.direct)
            for name, graph in self.sequence.graphs.items()
            if name != MAIN
        }

    @cached_property
    def plan(self) -> Plan:
        """The multipliers of all that is scheduled."""
        if self.passes:
            return combined([self.passes.plan] * self.options.cores, self.passes.plan.ii)
        if self.sequence is None:
            return self.schedule.plan
        plans = [entry.plan for entry in self.schedules.values()]
        if self.preparation:
            plans.append(self.preparation.plan)
        return combined(plans, self.ii)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The numbers that the hardware loads, in the order of their addresses."""
        return self.sequence.parameters if self.sequence else self.graph.parameters

    @property
    def inputs(self) -> dict[str, Format]:
        if self.sequence:
            return dict(self.sequence.fields)
        return self.iteration.fields if self.iteration else self.graph.inputs

    @property
    def outputs(self) -> dict[str, Format]:
        if self.sequence:
            return self.sequence.result_formats
        return self.iteration.result_formats if self.iteration else self.graph.output_formats

    @cached_property
    def offsets(self) -> Offsets | None:
        """A sequence's cycle model."""
        if self.sequence is None:
            return None
        latency = {name: entry.latency for name, entry in self.schedules.items()}
        ii = {name: entry.ii for name, entry in self.schedules.items()}
        if self.preparation:
            latency[MAIN] = ii[MAIN] = self.preparation.pipeline_latency
        return Offsets.of(self.sequence, latency, ii, periodic=self.preparation is None)

    @property
    def latency(self) -> int | None:
        """Clock edges from an input transfer to its output; None where it depends on the data."""
        if self.offsets:
            return self.offsets.ends[0]
        if self.passes and not self.iteration:
            return self.passes.latency
        return None if self.iteration else self.schedule.latency + StreamKernel.FIFO_LATENCY

    @property
    def feedback_latency(self) -> int | None:
        """The latency, where all that does not depend on the input was prepared before."""
        return self.latency if self.sequence else None

    @property
    def ii(self) -> int:
        """Clock cycles between two passes, or kernels' inputs, of the hardware inside."""
        if self.preparation:
            return self.preparation.pipeline_latency
        return self.passes.program.cycles if self.passes else self.options.ii

    @property
    def cycles(self) -> int:
        """Clock cycles between two accepted inputs (of `forward`: between two passes)."""
        if self.passes:
            return self.passes.cycles
        return self.offsets.cycles if self.offsets else self.options.ii

    @property
    def pass_latency(self) -> int:
        """Clock edges from the graph's inputs to its outputs."""
        if self.preparation:
            return self.preparation.pipeline_latency
        return self.passes.program.cycles if self.passes else self.schedule.latency

    def component(self, *, behavioural: bool = False) -> StreamPorts:
        """A new kernel; `behavioural` where no `kg_mul` module is at hand."""
        return self._kernel(self.TAG_WIDTH, behavioural)

    def shelled(self) -> wiring.Component:
        """A new kernel in the shell that the options ask for."""
        if self.axi:
            return AxiShell(self._kernel(TAG_BITS), self.axi)
        if self.serial:
            kernel, baud = self._kernel(SERIAL_TAG_BITS), self.options.baud
            return SerialShell(kernel, self.serial, clock_hz=self.clock_hz, baud=baud)
        return self.component()

    def _kernel(self, tag_width: int, behavioural: bool = False) -> StreamPorts:
        if self.sequence:
            return SequenceKernel(self.sequence, self._pipelines(behavioural), tag_width=tag_width)
        if self.passes:
            return self._folded(tag_width, behavioural)
        pipeline = Pipeline(self.graph, self.schedule, self.target, behavioural=behavioural)
        if self.iteration:
            return RingKernel(self.iteration, pipeline, tag_width=tag_width)
        block_ram = self.target.delay_line == "dram"
        return StreamKernel(pipeline, tag_width=tag_width, block_ram=block_ram)

    def _folded(self, tag_width: int, behavioural: bool) -> StreamPorts:
        words = {"tag_width": tag_width, "behavioural": behavioural}
        if self.options.cores == 1:
            return FoldedKernel(self.passes, self.target, **words)
        return Team(self.passes, self.target, cores=self.options.cores, **words)

    @property
    def geometry_digest(self) -> int:
        """32 bits of the geometry at first: what a load port would show, else of the robot."""
        return words(self.parameters)[-1] if self.parameters else int(self.robot.digest[:8], 16)

    @cached_property
    def axi(self) -> AxiInterface | None:
        """The AXI interface around the kernel, where there is one."""
        if not self.beat_bits:
            return None
        inputs, outputs = (Packing(f, self.beat_bits) for f in (self.inputs, self.outputs))
        return AxiInterface(name=self.name, inputs=inputs, outputs=outputs, facts=self._facts)

    @cached_property
    def serial(self) -> SerialInterface | None:
        """The frames of the serial link around the kernel, where there is one."""
        if not self.is_serial:
            return None
        inputs, outputs = Packing(self.inputs), Packing(self.outputs)
        return SerialInterface(name=self.name, inputs=inputs, outputs=outputs, facts=self._facts)

    @property
    def _facts(self) -> Facts:
        return Facts(
            design=int(hashlib.sha256(self.header.encode()).hexdigest()[:8], 16),
            geometry=self.geometry_digest,
            geometry_words=len(self.parameters),
        )

    def _pipelines(self, behavioural: bool) -> dict[str, Pipeline | FoldedPipeline]:
        targets = {
            name: self.target if name == MAIN else self.target.direct for name in self.schedules
        }
        graphs = self.sequence.graphs
        pipelines: dict[str, Pipeline | FoldedPipeline] = {
            name: Pipeline(graphs[name], plan, targets[name], behavioural=behavioural)
            for name, plan in self.schedules.items()
        }
        if self.preparation:
            pipelines[MAIN] = FoldedPipeline(
                graphs[MAIN], self.preparation, self.target, behavioural=behavioural
            )
        return pipelines

    @property
    def canonical_options(self) -> dict[str, object]:
        """The options as they were resolved, with what the robot's file left to them."""
        own = {"elongation": self.robot.elongation} if stretches(self.robot) else {}
        if self.kind.sampled and self.robot.sample_rate != Robot.sample_rate:  # not the usual one
            own["sample_rate"] = self.robot.sample_rate
        options = dataclasses.asdict(self.options)
        for name, usual in (("runtime_geometry", False), ("folded", False), ("cores", 1)):
            if options[name] == usual:
                del options[name]
        if options["shell"] == "stream":
            del options["shell"]
        if not self.is_serial:
            del options["baud"]
        return options | {
            "clock_mhz": self.clock_mhz,
            "accuracy": self.kind.accuracy(self.robot),
            "closure": self.robot.closure,
            **own,
        }

    @property
    def header(self) -> str:
        """What the generated files say of themselves: the options and the robot's digest."""
        return (
            f"{self.name}: kernel {self.options.kernel} of the robot {self.robot.name}\n"
            f"options {json.dumps(self.canonical_options, sort_keys=True)}\n"
            f"robot sha256 {self.robot.digest}"
        )

    @cached_property
    def verilog(self) -> str:
        """The generated file: deterministic, with its header on top."""
        return verilog(self.shelled(), self.name, self.header)
