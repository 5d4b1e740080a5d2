import random

import pytest
from amaranth.sim import Simulator
from serial_line import heard, levels

from hdl.uart import UartReceiver, UartTransmitter, bit_cycles


def received(line, divider=16):
    """Bytes and errors that a receiver says for the levels of a line."""
    receiver, found = UartReceiver(divider), []

    async def drive(ctx):
        for level in [*line, *[1] * (2 * divider)]:
            ctx.set(receiver.rx, level)
            await ctx.tick()
            if ctx.get(receiver.valid):
                found.append(ctx.get(receiver.data))
            if ctx.get(receiver.error):
                found.append("error")

    simulator = Simulator(receiver)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    return found


BYTES = [0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80, *random.Random(1).randbytes(20)]


@pytest.mark.parametrize("divider", [8, 9, 16, 40])
@pytest.mark.parametrize("off", [-0.03, 0.0, 0.03])
def test_bytes_without_gaps_are_received_at_a_rate_that_is_three_percent_off(divider, off):
    line = [1] * 5 + levels(BYTES, bit=divider * (1 + off))
    assert received(line, divider) == BYTES


def test_a_rate_that_is_eight_percent_off_is_not_received():
    assert received([1] * 5 + levels(BYTES, bit=16 * 1.08)) != BYTES


def test_a_glitch_of_one_cycle_is_not_seen_anywhere():
    line = [1] * 40 + levels(BYTES[:8], bit=16)
    for at in range(3, len(line), 16):
        line[at] ^= 1
    assert received(line) == BYTES[:8]


def test_a_start_bit_that_is_over_before_its_middle_is_none():
    assert received([1] * 20 + [0] * 7 + [1] * 200 + levels([0x3C], bit=16)) == [0x3C]


def test_a_byte_without_its_stop_bit_is_an_error_and_the_next_one_is_received():
    assert received(levels([0x5A], bit=16, stop=0) + [1] * 40 + levels([0x5A], bit=16)) == [
        "error",
        0x5A,
    ]


def test_a_line_that_stays_low_is_one_error():
    assert received([0] * 1000 + [1] * 40 + levels([0x5A], bit=16)) == ["error", 0x5A]


@pytest.mark.parametrize("divider", [8, 16])
def test_bytes_are_sent_as_they_are_received(divider):
    transmitter, line = UartTransmitter(divider), []

    async def drive(ctx):
        ctx.set(transmitter.valid, 1)
        waiting = list(BYTES)
        for _ in range(len(BYTES) * 10 * divider + 20):
            ctx.set(transmitter.valid, bool(waiting))
            ctx.set(transmitter.data, waiting[0] if waiting else 0)
            if waiting and ctx.get(transmitter.ready):
                del waiting[0]
            await ctx.tick()
            line.append(ctx.get(transmitter.tx))

    simulator = Simulator(transmitter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    assert line[: len(BYTES) * 10 * divider] == levels(BYTES, bit=divider), "without a gap"
    assert heard(line, bit=divider) == bytes(BYTES)


def test_a_bit_has_a_whole_number_of_cycles():
    assert bit_cycles(clock_hz=18e6, baud=1e6) == 18
    assert bit_cycles(clock_hz=75e6, baud=115200) == 651


def test_a_rate_that_the_clock_does_not_make_is_refused_with_those_that_it_does():
    with pytest.raises(ValueError) as error:
        bit_cycles(clock_hz=18e6, baud=1.9e6)
    assert str(error.value) == (
        "a bit of 1900000 baud takes 9.47 cycles of 18 MHz, more than 1 % from a whole number, "
        "which 1800000 or 2000000 baud take"
    )
    with pytest.raises(ValueError) as error:
        bit_cycles(clock_hz=18e6, baud=3e6)
    assert str(error.value) == "a clock of 18 MHz carries between 275 and 2250000 baud, not 3000000"
