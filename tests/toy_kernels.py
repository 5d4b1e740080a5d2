"""Small graphs with known answers, and a pipeline of delay lines to run them in.

`DelayPipeline` has the ports and the timing of `hdl.pipeline.Pipeline` for any latency and II, so
that the shells are tested at corners that no schedule of a small graph would give.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.geometry import parameter_port
from hdl.shell import shape
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.iteration import Iteration

A, B, N = Format(True, 9, 0), Format(True, 7, 0), Format(False, 4, 0)


def product() -> g.Graph:
    """p = a * b and d = a - b: every bit of the inputs matters."""
    nodes = (g.Input("a", A), g.Input("b", B), g.Multiply(0, 1), g.Subtract(0, 1))
    return g.Graph("product", nodes, (g.Output("p", 2), g.Output("d", 3)))


def countdown() -> Iteration:
    """Adds `step` to `sum` in n + 1 passes: n chooses how many a solve takes."""
    total = Format(True, 12, 0)
    nodes = (
        g.Input("n", N),
        g.Input("sum", total),
        g.Input("step", B),
        g.Constant(1, 0),
        g.Less(0, 3),
        g.Subtract(0, 3),
        g.Narrow(5, 0, 0, N.hi, overflow="saturate"),
        g.Add(1, 2),
        g.Narrow(7, 0, total.lo, total.hi, overflow="wrap"),
    )
    outputs = (("next_n", 6), ("next_sum", 8), ("done", 4))
    return Iteration(
        graph=g.Graph("countdown", nodes, tuple(g.Output(*item) for item in outputs)),
        state=("n", "sum"),
        inputs=("step",),
        initial={"n": "count", "sum": 5},
        external={"count": N},
        done="done",
        results=("next_sum",),
        max_passes=16,
    )


def root() -> Iteration:
    """The integer square root of x by counting up: no constant input but x, 1 to 16 passes."""
    x, r = Format(False, 8, 0), Format(False, 5, 0)
    nodes = (
        g.Input("x", x),
        g.Input("r", r),
        g.Constant(1, 0),
        g.Add(1, 2),
        g.Narrow(3, 0, 0, r.hi, overflow="saturate"),
        g.Multiply(4, 4),
        g.Less(0, 5),
    )
    outputs = (("next_r", 4), ("root", 1), ("done", 6))
    return Iteration(
        graph=g.Graph("root", nodes, tuple(g.Output(*item) for item in outputs)),
        state=("r",),
        inputs=("x",),
        initial={"r": 0},
        done="done",
        results=("root",),
        max_passes=16,
    )


def observed() -> g.Graph:
    """p = a * b beside a status, a residual and iterations that are inputs, and a field of two
    words: what an AXI shell looks at, at will."""
    fields = {
        "a": A,
        "b": B,
        "wide": Format(True, 40, 0),
        "policy": Format(False, 2, 0),
        "lambda": Format(False, 1, 20),
        "said": Format(False, 9, 0),
        "left": Format(False, 32, 0),
        "count": N,
    }
    nodes = (*(g.Input(name, form) for name, form in fields.items()), g.Multiply(0, 1))
    outputs = {"p": 8, "wide": 2, "policy": 3, "lambda": 4}
    outputs |= {"residual": 6, "iterations": 7, "status": 5}
    return g.Graph("observed", nodes, tuple(g.Output(*item) for item in outputs.items()))


class DelayPipeline(wiring.Component):
    """The graph in one cycle, then `latency` registers; a new input every `ii` cycles.

    `mutant` is an output that comes out with its lowest bit inverted where the first input is 3.
    """

    periodic = True

    def __init__(self, graph: g.Graph, *, latency: int, ii: int, mutant: str | None = None) -> None:
        self.graph, self.latency, self.ii, self.mutant = graph, latency, ii, mutant
        super().__init__(
            {"accept": Out(1), "i_valid": In(1), "o_valid": Out(1)}
            | {f"i_{name}": In(shape(form)) for name, form in graph.inputs.items()}
            | {f"p_{name}": parameter_port(node) for name, node in graph.parameters.items()}
            | {f"o_{name}": Out(shape(form)) for name, form in graph.output_formats.items()}
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        phase = Signal(range(self.ii))
        m.d.sync += phase.eq(Mux(phase == self.ii - 1, 0, phase + 1))
        m.d.comb += self.accept.eq(phase == 0)
        values: list = []
        for node in self.graph.nodes:
            values.append(self._value(node, [values[i] for i in node.operands]))
        results = [
            Signal(shape(self.graph.output_formats[o.name]), name=f"{o.name}_0")
            for o in self.graph.outputs
        ]
        for output, result in zip(self.graph.outputs, results, strict=True):
            wrong = output.name == self.mutant
            flip = values[0] == 3 if wrong else Const(0)
            m.d.comb += result.eq(values[output.node] ^ flip)
        line, valid = Cat(*results), self.i_valid & self.accept
        for _ in range(self.latency):
            # What is not valid is not kept: whoever looks too late or too early sees another word.
            line_next, valid_next = Signal(len(line), reset_less=True), Signal()
            m.d.sync += [line_next.eq(line), valid_next.eq(valid)]
            line, valid = line_next, valid_next
        m.d.comb += self.o_valid.eq(valid)
        m.d.comb += Cat(*(getattr(self, f"o_{o.name}") for o in self.graph.outputs)).eq(line)
        return m

    def _value(self, node: g.Node, operands: list):
        match node:
            case g.Input():
                return getattr(self, f"i_{node.name}")
            case g.Parameter():
                port = getattr(self, f"p_{node.name}")
                return port.as_signed() if node.lo < 0 else port
            case g.Constant():
                return Const(node.code, signed(node.code.bit_length() + 1))
            case g.Add():
                return operands[0] + operands[1]
            case g.Subtract():
                return operands[0] - operands[1]
            case g.Multiply():
                return operands[0] * operands[1]
            case g.Less():
                return operands[0] < operands[1]
            case g.Narrow(overflow="wrap"):
                return operands[0][: (node.hi - node.lo).bit_length()].as_signed()
            case g.Narrow(overflow="saturate"):
                low = Mux(operands[0] < node.lo, node.lo, operands[0])
                return Mux(operands[0] > node.hi, node.hi, low)
        raise TypeError(f"no toy hardware for {type(node).__name__}")
