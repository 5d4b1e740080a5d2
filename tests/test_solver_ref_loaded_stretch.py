"""The stretch of a cable whose stiffness is loaded: bit-true, against the law in float64."""

from dataclasses import replace

import numpy as np
import pytest
from traced import tracer

from solver_ref.arithmetic import FloatArithmetic
from solver_ref.elongation import LAWS, elongation
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.loaded_stretch import TOLERANCE, LoadedStiffness, corners, given
from solver_ref.parts import Stiffness

SEED, ERROR = 33, 2.0**-26
PORT = Format(False, 16, 4)
# The published ropes of the suspended crane, one without thresholds, and one that stiffens most.
ROPES = {
    "three regions": Stiffness(k0=2e5, alpha=2.0, static_friction=30.0, slip=8e3, k_max=4e5),
    "one region": Stiffness(k0=1e5),
    "soft": Stiffness(k0=2e4, alpha=5.0, static_friction=10.0, slip=1e3, k_max=9e4),
}


def drawn(own: Stiffness, rng: np.random.Generator) -> Stiffness:
    """Each part somewhere within its tolerance."""
    parts = {p: getattr(own, p) * (1 + TOLERANCE * rng.uniform(-1, 1)) for p in given(own)}
    return replace(own, **parts)


def on_codes(stiffness: Stiffness) -> Stiffness:
    """The thresholds as hardware has them."""
    parts = {p: getattr(stiffness, p) for p in ("static_friction", "slip")}
    codes = {p: float(PORT.decode(PORT.encode(x))) for p, x in parts.items() if x}
    return replace(stiffness, **codes)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rope", ROPES)
def test_the_law_of_any_stiffness_within_the_tolerance_is_met(rope, law):
    own, m, rng = ROPES[rope], tracer(), np.random.default_rng(SEED)
    loaded = LoadedStiffness(own, 3, 24_000.0)
    stretch = elongation(m, loaded, m.input("T", PORT), law, error=ERROR)
    graph = m.builder.graph("stretch", {"e": stretch})
    top = int(PORT.encode(24_000.0))
    tension = np.concatenate([rng.integers(0, top, 2000), np.arange(2000), [top]])
    for stiffness in (*list(corners(own))[:8], *(drawn(own, rng) for _ in range(20))):
        codes = loaded.codes(stiffness, law, graph.parameters)
        assert codes.keys() == graph.parameters.keys()
        exact = on_codes(stiffness)
        code = evaluate(graph, {"T": tension} | codes)["e"]
        found = graph.output_formats["e"].decode(code)
        wanted = elongation(FloatArithmetic(), exact, PORT.decode(tension), law)
        # A threshold between two codes moves the integral by half a quantum over k0 at most.
        rounding = PORT.quantum / stiffness.k0
        assert np.abs(found - wanted).max() <= 2.5 * ERROR + rounding, f"{stiffness}, seed {SEED}"


def test_codes_stay_within_what_their_words_take():
    own, m, rng = ROPES["three regions"], tracer(), np.random.default_rng(SEED)
    loaded = LoadedStiffness(own, 1, 24_000.0)
    elongation(m, loaded, m.input("T", PORT), error=ERROR)
    stretch = elongation(m, loaded, m.input("T", PORT), error=ERROR)
    parameters = m.builder.graph("stretch", {"e": stretch}).parameters
    names = ["static_friction_1", "slip_1", "compliance_1"]
    assert set(names) < set(parameters)
    for _ in range(300):
        codes = loaded.codes(drawn(own, rng), "integrated", parameters)
        assert all(parameters[n].lo <= code <= parameters[n].hi for n, code in codes.items())
    own_codes = loaded.codes(own, "integrated", parameters)
    assert own_codes == {name: p.initial for name, p in parameters.items()}


def test_a_curve_that_no_polynomial_follows_is_refused():
    steep = LoadedStiffness(Stiffness(k0=10.0, alpha=100.0), 1, 24_000.0)
    with pytest.raises(ValueError, match="no polynomial of degree 24 or less is within 1e-09"):
        steep.degree("integrated", 1e-9)
