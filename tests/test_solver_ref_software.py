"""Generated software as text: what it says, what it refuses, and its Structured Text run."""

import re

import numpy as np
import pytest
from random_graphs import corner_codes, random_graph
from st_evaluator import FunctionBlock, Lint
from toy_kernels import B, N, countdown, product, root

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.kernels import KERNELS
from solver_ref.kernels.domain import Domain
from solver_ref.robot_file import load
from solver_ref.software import software
from solver_ref.split import split

SEED = 11


def kernel(robot: str, name: str):
    return KERNELS[name].trace(Domain.of(load(robot), "fine"))


def chain(*nodes: g.Node) -> g.Graph:
    """Two inputs of 40 bits, then `nodes`; the last one is the output."""
    wide = Format(True, 40, 0)
    nodes = (g.Input("a", wide), g.Input("b", wide), *nodes)
    return g.Graph("chain", nodes, (g.Output("y", len(nodes) - 1),))


def test_the_same_graph_gives_the_same_texts_with_the_header_on_top():
    first = software(product(), "twin", header="robot sha256 1234\noptions */ none")
    assert first == software(product(), "twin", header="robot sha256 1234\noptions */ none")
    assert sorted(first.files) == ["twin.c", "twin.h", "twin.st", "twin_double.c"]
    for name, text in first.files.items():
        assert "robot sha256 1234" in text.splitlines()[1]
        assert f"graph sha256 {product().digest}" in text
        assert name.endswith(".st") or "options */" not in text
    assert f'#define TWIN_GRAPH "{product().digest}"' in first.files["twin.h"]


def test_the_integer_code_has_no_floating_point_and_no_allocation():
    iteration = kernel("hangprinter", "forward").iteration
    text = software(iteration, "twin").files["twin.c"]
    assert not re.search(r"\b(float|double|malloc|calloc|free)\b", text.partition("*/")[2])
    assert "#include <math.h>" not in text


def test_signed_shifts_stand_in_helpers_only():
    text = software(kernel("planar4", "step").graph, "twin").files["twin.c"]
    body = text[text.index("static void twin_pass") :]
    assert ">>" not in body
    assert not re.search(r"(?<!\(int64_t\)1 )(?<!\(int32_t\)1 )<<", body)


def test_a_value_of_more_than_128_bits_is_refused_by_its_node():
    too_wide = chain(g.Multiply(0, 1), g.Multiply(2, 2))
    with pytest.raises(ValueError, match=r"node 3 \(Multiply.*at most 128 bits, and this needs 15"):
        software(too_wide, "twin")


def test_a_value_beyond_lint_leaves_structured_text_out_with_the_reason():
    made = software(chain(g.Multiply(0, 1), g.Narrow(2, -40, -(1 << 40), 1 << 40)), "twin")
    assert "twin.st" not in made.files and "twin.c" in made.files
    assert re.search(r"node 2 \(Multiply.*LINT has 64 bits, and this needs 8", made.missing[".st"])


def test_a_graph_cut_into_pieces_has_no_form_in_double():
    cut = split(kernel("hangprinter", "step").graph, (18, 18))
    made = software(cut, "twin")
    assert "takes a value apart" in made.missing["_double.c"]
    assert "twin_double" not in made.files["twin.h"]


@pytest.mark.parametrize(
    "names, message",
    [
        (("int", "b"), "'int' among the inputs is no name in C"),
        (("a-b", "b"), "'a-b' among the inputs is no name in C"),
        (("a", "A"), "inputs that differ in the case of letters only: a, A"),
    ],
)
def test_names_that_c_cannot_have_are_refused(names, message):
    nodes = tuple(g.Input(name, Format(True, 4, 0)) for name in names)
    graph = g.Graph("names", (*nodes, g.Add(0, 1)), (g.Output("y", 2),))
    with pytest.raises(ValueError, match=re.escape(message)):
        software(graph, "twin")


@pytest.mark.parametrize(
    "feedback, message",
    [
        ({"q": "p"}, "feedback into 'q', which is no input"),
        ({"a": "q"}, "feedback from 'q', which is no output"),
        ({"a": "p"}, "p is SQ(16, 0), which does not fit the input 'a', SQ(9, 0)"),
    ],
)
def test_feedback_that_does_not_fit_is_refused(feedback, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        software(product(), "twin", feedback=feedback)


@pytest.mark.parametrize("seed", range(12))
def test_structured_text_of_random_graphs_is_exact(seed):
    graph = random_graph(seed)
    made = software(graph, "twin")
    if ".st" in made.missing:
        pytest.skip(made.missing[".st"])
    block, codes = FunctionBlock(made.files["twin.st"]), corner_codes(graph, seed, 30)
    for row, expected in rows(evaluate(graph, codes)):
        found = block(**{f"i_{name}": int(column[row]) for name, column in codes.items()})
        assert found == {f"o_{name}": code for name, code in expected.items()}, f"seed {seed}"


def rows(outputs):
    """The rows of columns: number and codes by name."""
    names = list(outputs)
    columns = (outputs[name].tolist() for name in names)
    return enumerate(dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("robot, name", [("four-cable", "step"), ("cogiro", "lengths")])
def test_structured_text_of_kernels_is_exact(robot, name):
    made = kernel(robot, name)
    rng = np.random.default_rng(SEED)
    values = KERNELS[name].draw(made.robot, 100, rng)
    codes = {port: form.encode(values[port]) for port, form in made.graph.inputs.items()}
    block = FunctionBlock(software(made.graph, "twin").files["twin.st"])
    for row, expected in rows(evaluate(made.graph, codes)):
        found = block(**{f"i_{port}": int(column[row]) for port, column in codes.items()})
        assert found == {f"o_{port}": code for port, code in expected.items()}, f"seed {SEED}"


@pytest.mark.parametrize(
    "iteration, codes",
    [
        (root(), {"x": np.arange(256)}),
        (countdown(), {"count": np.arange(16), "step": np.arange(B.lo, B.lo + N.hi + 1)}),
    ],
)
def test_structured_text_repeats_an_iteration_until_it_is_done(iteration, codes):
    block = FunctionBlock(software(iteration, "twin").files["twin.st"])
    outputs, passes = evaluate_iteration(iteration, codes)
    for row, expected in rows(outputs | {"passes": passes}):
        found = block(**{f"i_{name}": int(column[row]) for name, column in codes.items()})
        assert found == {f"o_{name}": code for name, code in expected.items()}


def test_the_evaluator_cuts_towards_zero_and_notices_overflow():
    assert (Lint(-7) / Lint(2)).value == -3 and (Lint(-7) % Lint(2)).value == -1
    with pytest.raises(OverflowError):
        Lint(1 << 62) + Lint(1 << 62)


def test_a_floor_by_plain_division_would_be_seen():
    """The mutant: without what is added before a division, negative codes are cut, not floored."""
    graph = chain(g.Narrow(0, -3, -(1 << 36), (1 << 36) - 1))
    text = software(graph, "twin").files["twin.st"]
    broken = re.sub(r"\((s_a) \+ LINT#\d+\) / (LINT#8) - LINT#\d+", r"\1 / \2", text)
    assert broken != text
    assert FunctionBlock(text)(i_a=-9, i_b=0) == {"o_y": -2}
    assert FunctionBlock(broken)(i_a=-9, i_b=0) == {"o_y": -1}


def shape(line: str) -> str:
    """A statement with its numbers and names made alike."""
    line = re.sub(r"LINT#-?\d+", "LINT#1", line.strip())
    return re.sub(r"\b[vs]_?\w*\b", "v1", line)


def test_every_shape_of_statement_is_structured_text_to_another_parser():
    """blark takes seconds for a hundred lines, so each shape of statement is parsed once."""
    parse = pytest.importorskip("blark.parse", reason="blark is not installed").parse_source_code
    shapes: dict[str, None] = {}
    for source in (*(random_graph(seed) for seed in range(8)), kernel("planar4", "lengths").graph):
        text = software(source, "twin").files.get("twin.st", "")
        lines = text.partition("\n\n")[2].splitlines()[:-1]
        shapes |= {shape(x): None for x in lines if x.endswith(";") and x.startswith(("v", "kg"))}
    loop = software(root(), "twin").files["twin.st"]
    tail = loop.partition("\n\n")[2]
    table = (
        "VAR CONSTANT\n    kg_power : ARRAY[0..1] OF LINT := [\n        LINT#1, LINT#-2\n    ];\n"
    )
    head = loop.partition("\n\n")[0].replace("VAR_TEMP", f"{table}END_VAR\nVAR_TEMP")
    branch = "IF kg_rest >= LINT#2 THEN\n    kg_rest := kg_rest / LINT#2;\nEND_IF;"
    assert len(shapes) > 20
    whole = "\n".join([head, "", *shapes, branch, tail])
    assert parse(whole).exception is None
    assert parse(whole.replace(":= ", ":= :", 1)).exception is not None
