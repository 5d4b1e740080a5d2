"""Running traced functions of the equations: codes in, exact values out."""

import numpy as np

from solver_ref.functions import TracedArithmetic
from solver_ref.interpreter import evaluate
from solver_ref.profile import Profile


def tracer(quantum: float = 2.0**-20, reach: float = 10.0) -> TracedArithmetic:
    """The fine arithmetic; at the default quantum and reach a residual has 23 fraction bits."""
    profile = Profile.choose("fine", quantum=quantum, reach=reach)
    return TracedArithmetic(profile, tilt=0.4, largest_tilt=0.4)


def run(m: TracedArithmetic, inputs: dict, outputs: dict) -> dict[str, np.ndarray]:
    """Output values (float64, exact) of the traced outputs for input codes."""
    graph = m.builder.graph("function", outputs)
    codes = evaluate(graph, inputs)
    return {name: np.ldexp(codes[name], -graph.output_formats[name].fraction) for name in outputs}
