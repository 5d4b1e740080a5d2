# amaranth: UnusedElaboratable=no
"""The stand-alone Verilog testbench in both simulators: it agrees with the models and can fail."""

import subprocess

import numpy as np
import pytest
from amaranth.back import verilog
from toy_kernels import A, B, DelayPipeline, countdown, product

from hdl import testbench as bench
from hdl.ring import RingKernel
from hdl.shell import StreamKernel
from sim.tools import SIMULATORS, available, run_testbench
from solver_ref.fixed import Format
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration

COUNT = 300


class Case:
    """A kernel as Verilog, its testbench and its vectors, in a folder of their own."""

    def __init__(self, folder, kernel, inputs, outputs, **options):
        self.folder, self.kernel = folder, kernel
        text = bench.testbench(
            "toy",
            inputs=kernel.inputs,
            outputs=kernel.outputs,
            tag_width=kernel.tag_width,
            vectors=COUNT,
            **options,
        )
        self.files = [folder / "toy.v", folder / "toy_tb.v"]
        self.files[0].write_text(
            verilog.convert(kernel, name="toy", emit_src=False, strip_internal_attrs=True)
        )
        self.files[1].write_text(text)
        bench.write_hex(folder / "toy_in.hex", kernel.inputs, inputs)
        bench.write_hex(folder / "toy_expected.hex", kernel.outputs, outputs)
        self.outputs = outputs

    def run(self, simulator, *plusargs, **options):
        if reason := available(simulator):
            pytest.skip(reason)
        stdout = run_testbench(self.files, "toy_tb", self.folder, simulator, plusargs, **options)
        return bench.parse_result(stdout), stdout


def product_case(folder, mutant=None, **options):
    random = np.random.default_rng(1)
    inputs = {
        "a": random.integers(A.lo, A.hi + 1, COUNT),
        "b": random.integers(B.lo, B.hi + 1, COUNT),
    }
    inputs["a"][:3], inputs["b"][:3] = (A.lo, A.hi, 3), (B.lo, B.hi, -1)
    pipeline = DelayPipeline(product(), latency=7, ii=3, mutant=mutant)
    kernel = StreamKernel(pipeline, tag_width=6)
    case = Case(folder, kernel, inputs, evaluate(product(), inputs), **options)
    case.wrong = np.count_nonzero(inputs["a"] == 3)  # what the mutant gets wrong
    return case


def ring_case(folder):
    random = np.random.default_rng(2)
    inputs = {
        "step": random.integers(B.lo, B.hi + 1, COUNT),
        "count": random.integers(0, 6, COUNT),
    }
    pipeline = DelayPipeline(countdown().graph, latency=7, ii=2)
    kernel = RingKernel(countdown(), pipeline, tag_width=8)
    results, passes = evaluate_iteration(countdown(), inputs)
    return Case(folder, kernel, inputs, results), kernel.ring.timing(passes)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return product_case(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    return ring_case(tmp_path_factory.mktemp("ring"))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_good_kernel_passes_with_its_exact_latency_and_ii(good, simulator):
    result, stdout = good.run(simulator)
    assert result.passed and stdout.endswith("PASS\n"), stdout
    latency = good.kernel.latency
    assert (result.latency_min, result.latency_max) == (latency, latency)
    assert (result.ii_min, result.ii_max, result.ii_mean) == (3, 3, 3)
    assert result.received == result.vectors == COUNT
    assert result.cycles == pytest.approx((COUNT - 1) * 3 + latency + 1, abs=3)


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    "plusargs",
    [
        ("stall_in=50", "stall_out=50", "seed=7"),
        ("stall_out=95", "seed=8"),
        ("stall_in=90", "seed=9"),
        ("isolated",),
        ("reset_at=217", "stall_out=40", "seed=10"),
        ("vectors=17", "reset_at=5"),
    ],
)
def test_stalls_resets_and_isolation_change_no_result(good, simulator, plusargs):
    result, stdout = good.run(simulator, *plusargs)
    assert result.passed, stdout
    assert result.resets == any("reset_at" in word for word in plusargs)


def test_both_simulators_print_the_same(good):
    plusargs = ("stall_in=30", "stall_out=60", "seed=123", "reset_at=100")
    assert len({good.run(simulator, *plusargs)[1] for simulator in SIMULATORS}) == 1


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_every_transfer_of_a_ring_takes_the_cycles_of_the_model(ring, simulator):
    case, timing = ring
    result, stdout = case.run(simulator, "trace=trace.txt")
    assert result.passed, stdout
    accept, present = bench.read_trace(case.folder / "trace.txt")
    assert np.array_equal(accept - accept[0], timing.accept)
    assert np.array_equal(present - accept[0], timing.present)
    summary = timing.summary()
    assert (result.latency_min, result.latency_max) == (
        summary["latency_min"],
        summary["latency_max"],
    )
    assert result.latency_mean == pytest.approx(summary["latency_mean"])
    assert result.ii_mean == pytest.approx(summary["ii_mean"])


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_outputs_are_written_and_read_back_also_without_expected_ones(good, simulator):
    (good.folder / "toy_expected.hex").rename(good.folder / "kept.hex")
    try:
        result, stdout = good.run(simulator, "out=out.hex", "reset_at=99")
    finally:
        (good.folder / "kept.hex").rename(good.folder / "toy_expected.hex")
    assert result.passed, stdout
    outputs = bench.read_hex(good.folder / "out.hex", good.kernel.outputs)
    assert all(np.array_equal(outputs[name], good.outputs[name]) for name in good.outputs)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_wrong_bit_fails_and_is_shown(tmp_path, simulator):
    case = product_case(tmp_path, mutant="p")
    result, stdout = case.run(simulator)
    assert not result.passed and stdout.endswith("FAIL\n")
    assert result.mismatches == case.wrong
    assert "MISMATCH vector=2 field=p got=-4 expected=-3" in stdout


@pytest.mark.parametrize(
    "broken, message",
    [
        ({"o_tag": "tag ^ 6'd1"}, "field=tag"),
        ({"o_valid": "valid & blink"}, "output withdrawn"),
        ({"o_valid": "1'b1"}, "an output too many"),
        ({"i_ready": "1'b0"}, "TIMEOUT no transfer for 500 cycles"),
        ({"o_p": "p & {16{o_ready}}"}, "the output changed before it was taken"),
        ({"o_valid": "1'bx"}, "o_valid=x"),
        ({"o_d": "0"}, "field=d got=0"),
        ({}, "PASS"),
    ],
)
def test_a_broken_kernel_fails_by_name(tmp_path, broken, message):
    case = product_case(tmp_path, watchdog=500)
    inner = case.files[0].read_text().replace("module toy(", "module inner(")
    assigns = {"o_tag": "tag", "o_valid": "valid", "i_ready": "ready", "o_p": "p", "o_d": "d"}
    lines = [f"  assign {port} = {value};" for port, value in (assigns | broken).items()]
    case.files[0].write_text(inner + WRAPPER.replace("  // assigns", "\n".join(lines)))
    result, stdout = case.run("icarus", "stall_out=50")
    assert result.passed == (not broken)
    assert message in stdout


WRAPPER = """
module toy (
  input clk, input rst, input i_valid, output i_ready, input [8:0] i_a, input [6:0] i_b,
  input [5:0] i_tag, output o_valid, input o_ready, output [15:0] o_p, output [9:0] o_d,
  output [5:0] o_tag
);
  reg blink = 0;
  always @(posedge clk) blink <= ~blink;
  wire valid, ready;
  wire [5:0] tag;
  wire [15:0] p;
  wire [9:0] d;
  inner inner (
    .clk(clk), .rst(rst), .i_valid(i_valid & i_ready), .i_ready(ready), .i_a(i_a), .i_b(i_b),
    .i_tag(i_tag), .o_valid(valid), .o_ready(o_ready), .o_p(p), .o_d(d), .o_tag(tag)
  );
  // assigns
endmodule
"""


def test_a_lost_transfer_fails(tmp_path):
    case = product_case(tmp_path, watchdog=500)
    inputs = {name: codes[1:] for name, codes in case.outputs.items()}
    inputs = {name: np.append(codes, 0) for name, codes in inputs.items()}
    bench.write_hex(case.folder / "toy_expected.hex", case.kernel.outputs, inputs)
    result, _ = case.run("icarus")
    assert not result.passed
    assert result.mismatches > COUNT / 2


@pytest.mark.parametrize("vectors", [0, COUNT + 1])
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_number_of_vectors_that_it_cannot_hold_gives_no_result(good, simulator, vectors):
    with pytest.raises(ValueError, match=f"vectors={vectors}: expected 1 to {COUNT}"):
        good.run(simulator, f"vectors={vectors}")


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_capacity_can_be_defined(good, simulator):
    for name in ("in", "expected"):
        words = (good.folder / f"toy_{name}.hex").read_text()
        (good.folder / f"twice_{name}.hex").write_text(words * 2)
    files = (f"{name}=twice_{name}.hex" for name in ("in", "expected"))
    result, stdout = good.run(
        simulator, f"vectors={2 * COUNT}", *files, defines={"KINEGATE_CAPACITY": str(2 * COUNT)}
    )
    assert result.passed and result.received == 2 * COUNT, stdout


def test_plain_icarus_runs_it_without_options_as_verilog_2005(good):
    if reason := available("icarus"):
        pytest.skip(reason)
    subprocess.run(["iverilog", "-g2005", "-o", "sim", *good.files], cwd=good.folder, check=True)
    done = subprocess.run(["vvp", "sim", "+vcd=waves.vcd"], cwd=good.folder, capture_output=True)
    assert bench.parse_result(done.stdout.decode()).passed
    assert "o_valid" in (good.folder / "waves.vcd").read_text()


def test_words_are_packed_as_the_header_says(tmp_path):
    formats = {"a": Format(True, 3, 1), "b": Format(False, 5, 0), "c": Format(True, 70, 0)}
    codes = {"a": [-8, 7, -1], "b": [31, 0, 1], "c": [-(1 << 69), 0, 5]}
    path = tmp_path / "words.hex"
    bench.write_hex(path, formats, codes)
    first = 0b1000 | 31 << 4 | 1 << (69 + 9)
    assert path.read_text().splitlines()[0] == f"{first:020x}"
    back = bench.read_hex(path, formats)
    assert {name: column.tolist() for name, column in back.items()} == codes


def test_a_code_outside_its_format_is_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"^a has codes outside SQ\(3, 1\)$"):
        bench.write_hex(tmp_path / "x.hex", {"a": Format(True, 3, 1)}, {"a": [8]})


def test_a_word_with_unknown_bits_is_refused(tmp_path):
    (tmp_path / "x.hex").write_text("12\nx3\n")
    with pytest.raises(ValueError, match="line 2 is no hexadecimal word: 'x3'"):
        bench.read_hex(tmp_path / "x.hex", {"a": A})


def test_no_result_line_is_an_error_that_shows_the_end():
    with pytest.raises(ValueError, match="got 0:\nboom"):
        bench.parse_result("boom\n")
