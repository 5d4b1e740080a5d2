"""The cocotb bench on toy kernels in Icarus: every one of its tests runs, passes, and can fail."""

import numpy as np
import pytest
from toy_kernels import A, B, DelayPipeline, countdown, product

from hdl.ring import RingKernel
from hdl.shell import StreamKernel
from hdl.testbench import write_hex
from hdl.verilog import verilog
from sim.cocotb_run import CocotbFailure, run_cocotb
from sim.tools import available
from solver_ref import graph as g
from solver_ref.interpreter import evaluate
from solver_ref.iteration import evaluate_iteration

TESTS = 4


def run(folder, kernel, inputs, outputs, **options):
    if reason := available("icarus"):
        pytest.skip(reason)
    text = verilog(kernel, "toy", "")
    files = {name: folder / name for name in ("toy.v", "in.hex", "expected.hex")}
    files["toy.v"].write_text(options.pop("change", str)(text))
    write_hex(files["in.hex"], kernel.inputs, inputs)
    write_hex(files["expected.hex"], kernel.outputs, outputs)
    return run_cocotb(
        [files["toy.v"]],
        "toy",
        folder / "build",
        inputs=kernel.inputs,
        outputs=kernel.outputs,
        tag_width=kernel.tag_width,
        in_file=files["in.hex"],
        expected_file=files["expected.hex"],
        **options,
    )


def product_inputs(count=30):
    random = np.random.default_rng(3)
    return {
        "a": np.append(random.integers(A.lo, A.hi + 1, count - 1), 3),
        "b": random.integers(B.lo, B.hi + 1, count),
    }


def product_kernel(**options):
    return StreamKernel(DelayPipeline(product(), latency=5, ii=2, **options), tag_width=4)


def test_a_good_kernel_passes_every_test(tmp_path):
    inputs, kernel = product_inputs(), product_kernel()
    cycles = {"latency": kernel.latency, "ii": kernel.ii}
    assert run(tmp_path, kernel, inputs, evaluate(product(), inputs), **cycles) == TESTS


def test_a_ring_passes_every_test(tmp_path):
    random = np.random.default_rng(4)
    inputs = {"step": random.integers(B.lo, B.hi + 1, 30), "count": random.integers(0, 5, 30)}
    kernel = RingKernel(countdown(), DelayPipeline(countdown().graph, latency=4, ii=2), tag_width=3)
    outputs, _ = evaluate_iteration(countdown(), inputs)
    assert run(tmp_path, kernel, inputs, outputs) == TESTS


def test_a_kernel_with_a_load_port_passes_every_test_unloaded(tmp_path):
    nodes = (g.Input("a", A), g.Parameter("p", B, -5, 9, 3), g.Multiply(0, 1))
    graph = g.Graph("loaded", nodes, (g.Output("y", 2),))
    kernel = StreamKernel(DelayPipeline(graph, latency=4, ii=2), tag_width=4)
    inputs = {"a": np.random.default_rng(5).integers(A.lo, A.hi + 1, 30)}
    cycles = {"latency": kernel.latency, "ii": kernel.ii}
    assert run(tmp_path, kernel, inputs, evaluate(graph, inputs), **cycles) == TESTS


def test_a_wrong_bit_fails_and_is_named(tmp_path):
    inputs = product_inputs()
    with pytest.raises(CocotbFailure, match=r"4 of 4 tests failed[^$]*transfer 29 of \(3, "):
        run(tmp_path, product_kernel(mutant="p"), inputs, evaluate(product(), inputs))


@pytest.mark.parametrize("name, wrong, failed", [("latency", 6, 2), ("ii", 3, 1)])
def test_a_latency_or_ii_that_is_not_met_fails(tmp_path, name, wrong, failed):
    inputs = product_inputs()
    with pytest.raises(CocotbFailure, match=f"{failed} of 4 tests failed"):
        run(tmp_path, product_kernel(), inputs, evaluate(product(), inputs), **{name: wrong})


def test_a_kernel_that_keeps_its_transfers_over_a_reset_fails(tmp_path):
    inputs = product_inputs()
    with pytest.raises(CocotbFailure, match=r"1 of 4 tests failed[^$]* of 30 outputs"):
        run(
            tmp_path,
            product_kernel(),
            inputs,
            evaluate(product(), inputs),
            change=lambda text: text.replace("if (rst)", "if (rst & 1'b0)"),
        )


def test_a_run_without_tests_is_no_success(tmp_path):
    inputs = product_inputs()
    with pytest.raises(CocotbFailure):
        outputs = evaluate(product(), inputs)
        run(tmp_path, product_kernel(), inputs, outputs, test_module="hdl.testbench")
