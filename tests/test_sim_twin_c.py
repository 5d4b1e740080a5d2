"""The generated C by itself: wide words, strict compilers, no undefined behaviour."""

import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import random_graphs
from random_graphs import corner_codes, random_graph
from test_hdl_operators import codes as operator_codes
from test_hdl_operators import everything
from twin_kernels import QUICK, SEED, STRICT, assert_equal, drawn, kernel, source

from sim.twin import FLAGS, compile_twin, compiler
from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration
from solver_ref.software import software

ARM = "arm-linux-gnueabihf-gcc"


def test_every_operation_is_exact(tmp_path):
    codes = operator_codes(1)
    twin = compile_twin(everything(), tmp_path, flags=STRICT)
    assert_equal(twin.evaluate(codes), evaluate(everything(), codes))


@pytest.mark.parametrize("seed", [32, 91, 224])
def test_random_graphs_of_very_wide_words_are_exact(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(random_graphs, "WIDEST", 120)
    graph = random_graph(seed, 60)
    assert max(span.width for span in graph.ranges) > 64
    codes = corner_codes(graph, seed, 300)
    expected = evaluate(graph, codes)
    twin = compile_twin(graph, tmp_path, flags=(*QUICK, "-DKG_CHECK"))
    assert_equal(twin.evaluate(codes), expected)


def wide_graph() -> Graph:
    """Every operation that can be wide, on products of 117 bits."""
    word, most = Format(True, 59, 0), 1 << 118
    nodes = [g.Input("a", word), g.Input("b", word), g.Input("u", Format(False, 6, 0))]
    a, b, u = 0, 1, 2
    nodes += [g.Multiply(a, b), g.Multiply(b, b), g.Narrow(a, 0, 0, 15, "floor", "wrap")]
    p, square, index = 3, 4, 5
    nodes += [g.Less(p, square), g.Narrow(p, 0, 0, (1 << 40) - 1, "floor", "wrap")]
    less, low, high = 6, 7, 8
    nodes.append(g.Scale(a, 40))
    tried = [
        *(g.Add(p, square), g.Subtract(p, square), g.Negate(p), g.Absolute(p), g.Add(p, a)),
        *(g.Maximum(p, square), g.Minimum(p, square), g.Outside(p, -(1 << 100), 1 << 90)),
        *(g.Select(less, p, square), g.Select(less, a, p), g.LeadingZeros(square, 120)),
        *(g.ShiftRight(p, u), g.ShiftLeft(a, u, -most, most), g.Scale(p, 3)),
        *(g.Difference(p, square, -(1 << 70), 5), g.Join(high, low, 40), g.Multiply(a, low)),
        g.Table(index, tuple((-3) ** k << 50 for k in range(16)), 0),
    ]
    for drop in (0, 1, 40, 64, 100):
        for rounding in ("floor", "half_even"):
            tried += [
                g.Narrow(p, -drop, -most, most, rounding),
                g.Narrow(p, -drop, -(1 << 69), (1 << 69) - 1, rounding, "wrap"),
                g.Narrow(p, -drop, -1000, 1 << 66, rounding, "saturate"),
            ]
    outputs = [g.Output(f"y{k}", len(nodes) + k) for k in range(len(tried))]
    return Graph("wide", (*nodes, *tried), (*outputs, g.Output("less", less)))


def wide_codes() -> dict[str, np.ndarray]:
    """Pairs of corners, then random codes of every length."""
    rng, last = np.random.default_rng(SEED), 1 << 58
    corners = np.array([-last, last - 1, -1, 0, 1, 1 << 31, -(1 << 31), (1 << 32) - 1])
    a, b = (x.ravel() for x in np.meshgrid(corners, corners))
    a, b = (
        np.concatenate([x, rng.integers(-last, last, 600) >> rng.integers(0, 59, 600)])
        for x in (a, b)
    )
    return {"a": a, "b": b, "u": np.arange(len(a)) % 64}


@pytest.mark.parametrize("more", [(), ("-DKG_PORTABLE", "-DKG_CHECK")])
def test_operations_on_two_words_are_exact(tmp_path, more):
    twin = compile_twin(wide_graph(), tmp_path, flags=(*QUICK, *more))
    assert_equal(twin.evaluate(wide_codes()), evaluate(wide_graph(), wide_codes()))


def program(folder: Path, made, flags, *, edit=lambda text: text, outputs: int | None = None):
    """A program of its own from generated files and `twin_main.c`."""
    for name, text in made.files.items():
        (folder / name).write_text(edit(text) if name == "twin.c" else text)
    main = Path(__file__).with_name("twin_main.c")
    inputs = made.files["twin.h"].partition("struct twin_in {")[2].partition("}")[0].count(";")
    words = [*compiler(), *flags, f"-I{folder}", '-DHEADER="twin.h"', "-DRUN=twin_many"]
    words += [f"-DINPUTS={inputs}", f"-DOUTPUTS={outputs}", main, folder / "twin.c"]
    subprocess.run([*words, "-o", folder / "program"], check=True, capture_output=True)
    return folder / "program"


def run(binary: Path, codes, outputs: int):
    """The exit status of the program, its messages, and its columns."""
    rows = len(next(iter(codes.values())))
    given = b"".join(column.astype(np.int64).tobytes() for column in codes.values())
    ended = subprocess.run([binary, str(rows)], input=given, capture_output=True)
    size = outputs * rows * 8
    columns = np.frombuffer(ended.stdout[:size].ljust(size, b"\0"), np.int64)
    return ended.returncode, ended.stderr.decode(), columns.reshape(outputs, rows)


UBSAN = ("-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("more", [(), ("-DKG_PORTABLE", "-DKG_CHECK")])
def test_the_sanitizer_finds_no_undefined_behaviour(tmp_path, more):
    """Without optimisation: the sanitizer takes its time in compiling."""
    codes, iteration = drawn("planar4", "forward", 2_000, wild=0.3), source("planar4", "forward")
    flags = (*STRICT, "-O0", *UBSAN, *more)
    outputs = len(iteration.results) + 1
    binary = program(tmp_path, software(iteration, "twin"), flags, outputs=outputs)
    status, messages, columns = run(binary, codes, outputs)
    assert (status, messages) == (0, "")
    expected, passes = evaluate_iteration(iteration, codes)
    assert_equal(dict(zip(expected, columns, strict=False)), expected)
    assert np.array_equal(columns[-1], passes)


def test_the_sanitizer_finds_nothing_in_operations_on_two_words(tmp_path):
    graph = wide_graph()
    outputs = sum(1 + (form.width > 64) for form in graph.output_formats.values())
    made = software(graph, "twin")
    binary = program(tmp_path, made, (*STRICT, "-O0", *UBSAN), outputs=outputs)
    assert run(binary, wide_codes(), outputs)[:2] == (0, "")


def test_the_sanitizer_sees_a_product_in_too_short_a_word(tmp_path):
    """The mutant: one product stays in 32 bits."""

    def short(text: str) -> str:
        broken = text.replace("(int64_t)v15 * (int64_t)v15;", "v15 * v15;")
        assert broken != text
        return broken

    graph = kernel("four-cable", "lengths").graph
    outputs, made = len(graph.outputs), software(graph, "twin")
    binary = program(tmp_path, made, (*FLAGS, "-O0", *UBSAN), edit=short, outputs=outputs)
    status, messages, _ = run(binary, drawn("four-cable", "lengths", 200), outputs)
    assert status != 0 and "signed integer overflow" in messages


def test_a_broken_promise_stops_a_checked_build(tmp_path):
    narrow = Format(True, 8, 0)
    nodes = (g.Input("a", narrow), g.Narrow(0, 0, -10, 10))
    made = software(Graph("promise", nodes, (g.Output("y", 1),)), "twin")
    binary = program(tmp_path, made, (*STRICT, "-DKG_CHECK"), outputs=1)
    assert run(binary, {"a": np.array([10, -10])}, 1)[0] == 0
    assert run(binary, {"a": np.array([11])}, 1)[0] != 0


@pytest.mark.skipif(not shutil.which(ARM), reason=f"{ARM} is not installed")
@pytest.mark.parametrize("name", ["step", "forward"])
def test_the_cross_compiler_for_arm_takes_it(tmp_path, monkeypatch, name):
    monkeypatch.setenv("CC", ARM)
    assert compile_twin(source("four-cable", name), tmp_path, flags=STRICT).library.exists()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="-m32 is of x86-64 compilers")
def test_a_32_bit_target_without_a_system_takes_it(tmp_path):
    made = software(source("planar4", "forward"), "twin")
    for name, text in made.files.items():
        (tmp_path / name).write_text(text)
    words = [*compiler(), *STRICT, "-m32", "-ffreestanding", "-fsyntax-only"]
    ended = subprocess.run(
        [*words, tmp_path / "twin.c", tmp_path / "twin_double.c"], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")
