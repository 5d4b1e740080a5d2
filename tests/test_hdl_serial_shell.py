# amaranth: UnusedElaboratable=no

import numpy as np
import pytest
from amaranth.sim import Simulator
from axi_toys import loaded, toy_rows
from serial_line import BIT, FACTS, frame, frames, heard, levels, toy_interface, toy_shell
from toy_kernels import DelayPipeline, product

from hdl.serial_map import IDENTITY, SYNC, Kind, Refusal
from hdl.serial_shell import TAG_BITS, SerialShell
from hdl.shell import StreamKernel
from solver_ref.interpreter import evaluate
from solver_ref.status import Status

BYTE = int(10 * BIT)


def answers(shell, line, *, after=45 * BYTE):
    """The frames that come back for the levels of a line, and the two lamps at the end."""
    back = []

    async def drive(ctx):
        for level in [*line, *[1] * after]:
            ctx.set(shell.rx, level)
            await ctx.tick()
            back.append(ctx.get(shell.tx))
        shown.extend(ctx.get(lamp) for lamp in (shell.active, shell.fault))

    shown = []
    simulator = Simulator(shell)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    return frames(heard(back)), tuple(shown)


def asked(count=1, graph=None, seed=1):
    """Requests for rows of the toy, and their answers."""
    rows, outputs = toy_rows(count, seed, graph)
    interface = toy_interface(graph)
    words = interface.inputs.pack(rows).tolist()
    requests = [frame(Kind.SOLVE, number, row) for number, row in enumerate(words)]
    results = [tuple(row) for row in interface.outputs.pack(outputs).tolist()]
    return requests, [(Kind.RESULT, number, row) for number, row in enumerate(results)]


def test_requests_without_gaps_are_answered_in_order():
    requests, right = asked(4)
    found, lamps = answers(toy_shell(), levels(b"".join(requests)))
    assert found == right
    assert lamps == (0, 0)


def test_a_kernel_of_one_word_in_and_two_out_is_answered():
    codes = {"a": np.array([-7, 200]), "b": np.array([3, -60])}
    graph = product()
    interface = toy_interface(graph)
    words = interface.inputs.pack(codes).tolist()
    line = levels(b"".join(frame(Kind.SOLVE, 9, row) for row in words))
    found, _ = answers(toy_shell(graph), line)
    results = interface.outputs.pack(evaluate(graph, codes)).tolist()
    assert found == [(Kind.RESULT, 9, tuple(row)) for row in results]


def test_the_shell_says_what_it_is():
    found, _ = answers(toy_shell(), levels(frame(Kind.IDENTIFY, 77)))
    [(kind, sequence, words)] = found
    assert (kind, sequence) == (Kind.IDENTITY, 77)
    assert words[0] == IDENTITY == int.from_bytes(b"KGUA", "big")
    assert words[3:5] == (FACTS.design, FACTS.geometry)
    assert words[5] == 9 | 8 << 16


def test_a_wrong_bit_is_found_be_it_in_a_word_or_in_the_crc():
    [request], _ = asked()
    for byte in (4, 23, len(request) - 1):
        wrong = bytearray(request)
        wrong[byte] ^= 1 << byte % 8
        found, lamps = answers(toy_shell(), levels(wrong), after=12 * BYTE)
        assert found == [(Kind.REFUSAL, 0, (Refusal.BAD_CRC,))], f"byte {byte}"
        assert lamps == (0, 1)


@pytest.mark.parametrize("count", [0, 8, 10, 255])
def test_another_count_of_words_is_refused_and_the_next_request_answered(count):
    [request], right = asked()
    line = levels(frame(Kind.SOLVE, 5)[:3] + bytes([count])) + levels(request)
    found, _ = answers(toy_shell(), line)
    assert found == [(Kind.REFUSAL, 5, (Refusal.WRONG_LENGTH,)), *right]


def test_garbage_before_a_frame_is_skipped_with_a_sync_in_it():
    [request], right = asked()
    garbage = bytes([0, 255, 0x55, SYNC, 0x33, SYNC, 0x82, SYNC, SYNC])
    assert answers(toy_shell(), levels(garbage + request))[0] == right


def test_a_frame_that_lost_a_byte_is_given_up_after_a_silence():
    requests, right = asked(2)
    shell = toy_shell()
    shell.quiet = 30 * BYTE
    line = levels(requests[0][:-3]) + [1] * (shell.quiet + BYTE) + levels(requests[1])
    assert answers(shell, line)[0] == right[1:]


def test_a_silence_that_is_short_enough_breaks_no_frame():
    [request], right = asked()
    shell = toy_shell()
    shell.quiet = 30 * BYTE
    line = levels(request[:9]) + [1] * (shell.quiet - 2 * BYTE) + levels(request[9:])
    assert answers(shell, line)[0] == right


def test_a_byte_without_its_stop_bit_breaks_the_frame():
    requests, right = asked(2)
    line = levels(requests[0][:20]) + levels([0x11], stop=0) + [1] * BYTE + levels(requests[1])
    found, _ = answers(toy_shell(), line)
    assert found == [(Kind.REFUSAL, 0, (Refusal.BROKEN_BYTE,)), right[1]]


def test_a_transfer_that_the_kernel_does_not_take_refuses_the_next_one():
    requests, right = asked(3)
    shell = toy_shell(ii=100 * BYTE, latency=2)
    # The first one waits up to an II, and so do both of the next ones.
    found, _ = answers(shell, levels(b"".join(requests)), after=300 * BYTE)
    refused = [entry for entry in found if entry[0] == Kind.REFUSAL]
    assert refused == [(Kind.REFUSAL, n, (Refusal.OVERRUN,)) for n in (1, 2)]
    assert [entry for entry in found if entry not in refused] == right[:1]


def test_an_input_that_is_no_code_of_its_field_is_told_by_the_status():
    rows, outputs = toy_rows(1)
    interface = toy_interface()
    words = interface.inputs.pack(rows)
    words[0, 0] ^= 1 << 20  # beyond the nine bits of a
    found, _ = answers(toy_shell(), levels(frame(Kind.SOLVE, 3, words[0].tolist())))
    got = interface.outputs.unpack(np.array([found[0][2]], np.uint32))
    status = outputs["status"][0] & ~int(Status.VALID) | int(Status.OUT_OF_RANGE)
    assert {name: int(column[0]) for name, column in got.items()} == {
        **{name: int(column[0]) for name, column in outputs.items()},
        "status": status,
    }


def test_a_kernel_that_loads_geometry_or_has_other_fields_or_tags_is_refused():
    def shell(graph, interface, tag_width=TAG_BITS):
        kernel = StreamKernel(DelayPipeline(graph, latency=2, ii=1), tag_width=tag_width)
        return SerialShell(kernel, interface, clock_hz=16e6)

    with pytest.raises(ValueError, match="loads no geometry"):
        shell(loaded(), toy_interface(loaded()))
    with pytest.raises(ValueError, match="the kernel's fields are"):
        shell(product(), toy_interface())
    with pytest.raises(ValueError, match=f"tags must have {TAG_BITS} bits, not 4"):
        shell(product(), toy_interface(product()), tag_width=4)
