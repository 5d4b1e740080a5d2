# amaranth: UnusedElaboratable=no
"""The quadrature decoder counts every edge, and nothing that is none."""

import random

import pytest
from amaranth.sim import Simulator

from hdl.sensors.quadrature import GlitchFilter, QuadratureDecoder

LEVELS = ((0, 0), (1, 0), (1, 1), (0, 1))


def run(process, decoder):
    simulator = Simulator(decoder)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


async def put(ctx, decoder, place, cycles):
    a, b = LEVELS[place % 4]
    ctx.set(decoder.a, a)
    ctx.set(decoder.b, b)
    await ctx.tick().repeat(cycles)


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("samples", [1, 4])
def test_every_edge_is_counted_after_the_latency_whatever_levels_it_starts_with(start, samples):
    decoder, draw = QuadratureDecoder(samples=samples), random.Random(5)

    async def process(ctx):
        place = 0
        await put(ctx, decoder, start, 3 * decoder.latency)
        for _ in range(200):
            was, place = place, place + draw.choice((1, -1))
            await put(ctx, decoder, start + place, decoder.latency - 1)
            assert ctx.get(decoder.count) == was
            await ctx.tick()
            assert ctx.get(decoder.count) == place
        assert not ctx.get(decoder.error)

    run(process, decoder)


def test_a_glitch_shorter_than_the_filter_is_not_counted():
    decoder, draw = QuadratureDecoder(samples=4), random.Random(6)

    async def process(ctx):
        await put(ctx, decoder, 0, 3 * decoder.latency)
        for _ in range(100):
            await put(ctx, decoder, draw.choice((1, 2, 3)), draw.randint(1, 3))
            await put(ctx, decoder, 0, 2 * decoder.latency)
            assert ctx.get(decoder.count) == 0 and not ctx.get(decoder.error)

    run(process, decoder)


def test_both_tracks_at_once_are_an_error_until_it_is_cleared():
    decoder = QuadratureDecoder()

    async def process(ctx):
        await put(ctx, decoder, 0, 3 * decoder.latency)
        await put(ctx, decoder, 2, 2 * decoder.latency)
        assert ctx.get(decoder.error) and ctx.get(decoder.count) == 0
        ctx.set(decoder.clear, 1)
        await ctx.tick()
        assert not ctx.get(decoder.error)

    run(process, decoder)


def test_the_index_makes_the_count_zero_only_when_armed():
    decoder = QuadratureDecoder()

    async def pulse(ctx):
        for level in (1, 0):
            ctx.set(decoder.index, level)
            await ctx.tick().repeat(2 * decoder.latency)

    async def process(ctx):
        for place in (0, 0, 1, 2):
            await put(ctx, decoder, place, 2 * decoder.latency)
        await pulse(ctx)
        assert ctx.get(decoder.count) == 2 and not ctx.get(decoder.homed)
        ctx.set(decoder.arm, 1)
        await ctx.tick()
        ctx.set(decoder.arm, 0)
        await pulse(ctx)
        assert ctx.get(decoder.count) == 0 and ctx.get(decoder.homed)

    run(process, decoder)


def test_widths_and_filters_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="at least 1 sample, not 0"):
        GlitchFilter(0)
    with pytest.raises(ValueError, match="at least 2 bits, not 1"):
        QuadratureDecoder(width=1)
