"""A cocotb bench for the AXI shell of any kernel, against cocotbext-axi with random stalls."""

from __future__ import annotations

import cocotb
from cocotbext.axi import AxiStreamFrame

from sim.axi_peer import AxiBench

OKAY, SLVERR = 0, 2
PAUSE, BATCH = 1, 2  # bits of the mode
BURST = 50  # writes, then reads, between changes of the stalls
LONG = {"timeout_time": 10, "timeout_unit": "ms"}  # a million cycles
SHORT = {"timeout_time": 200, "timeout_unit": "us"}
PLAIN = ("inputs.", "control.geometry_address", "control.latency_limit", "control.residual_limit")
"""Registers that can have any value while nothing is solved."""


@cocotb.test(**LONG)
async def streams_with_stalls_lose_and_reorder_nothing(dut):
    """Every packet, while registers are read and solves go between them."""
    bench = await AxiBench.start(dut)
    rows = range(len(bench.packets()))
    bench.stall(None)

    async def send_all() -> None:
        for number, packet in enumerate(bench.packets()):
            if number % 500 == 0:
                bench.stall(None)
            await bench.send(packet)

    async def solve_some() -> None:
        while True:
            row = bench.chance.choice(rows)
            assert [await bench.solve(row)] == bench.right([row])

    sending, solving = cocotb.start_soon(send_all()), cocotb.start_soon(solve_some())
    got = await bench.receive(len(rows))
    await sending
    solving.cancel()
    for row, (found, right) in enumerate(zip(got, bench.right(rows), strict=True)):
        assert found == right, f"packet {row}: {found}, not {right}"


@cocotb.test(**LONG)
async def registers_keep_what_is_written_in_any_order(dut):
    """AW before W, W before AW, together; any strobes, none among them; holes answer SLVERR."""
    bench = await AxiBench.start(dut, seed=2)
    addresses = {place: name for name, place in bench.setup.addresses.items()}
    plain = {
        place: bench.setup.resets[name]
        for place, name in addresses.items()
        if name.startswith(PLAIN) and bench.setup.access[name] == "write"
    }
    constant = [
        place for place, name in addresses.items() if bench.setup.access[name] == "constant"
    ]
    shown = [place for place, name in addresses.items() if bench.setup.access[name] == "read"]
    holes = [place for place in range(0, 4096, 4) if place not in addresses]
    for _ in range(bench.setup.accesses // (2 * BURST)):
        bench.stall(None)
        expected = []
        for _ in range(BURST):
            kind = bench.chance.choice((list(plain), list(plain), constant, shown, holes))
            place, word = bench.chance.choice(kind), bench.chance.getrandbits(32)
            strobes = bench.chance.choice((0, 15, bench.chance.getrandbits(4)))
            await bench.write_begin(place + bench.chance.choice((0, 0, 1, 3)), word, strobes)
            expected.append(OKAY if place in plain else SLVERR)
            if place in plain:
                mask = sum(255 << (8 * lane) for lane in range(4) if strobes >> lane & 1)
                plain[place] = (plain[place] & ~mask) | (word & mask)
        answers = [int((await bench.lite["b"].recv()).bresp) for _ in expected]
        assert answers == expected
        for _ in range(BURST):
            place = bench.chance.choice((*plain, *constant, *holes[:20]))
            word, response = await bench.read(place)
            if place in plain:
                assert (word, response) == (plain[place], OKAY), hex(place)
            elif place in constant:
                assert (word, response) == (bench.setup.resets[addresses[place]], OKAY)
            else:
                assert (word, response) == (0, SLVERR), hex(place)


@cocotb.test(**SHORT)
async def registers_are_at_first_as_the_map_says(dut):
    bench = await AxiBench.start(dut, seed=3)
    moving = ("watch.cycles_low", "control.geometry", "control.state")
    for name, place in bench.setup.addresses.items():
        word, response = await bench.read(place)
        assert response == OKAY, name
        assert name in moving or word == bench.setup.resets[name], f"{name} is {word:#x}"


@cocotb.test(**SHORT)
async def wrong_packets_are_dropped_and_the_next_are_right(dut):
    bench = await AxiBench.start(dut, seed=4)
    packets, event = bench.packets(), bench.setup.addresses["control.event"]
    beat, good = bench.setup.inputs.beat_bits // 8, []
    wrong = {"short_packet": 0, "long_packet": 0, "null_bytes": 0}
    for row, packet in enumerate(packets[:120]):
        kind = bench.chance.choice(("good", *wrong))
        if kind == "good":
            good.append(row)
            await bench.send(packet)
        elif kind == "short_packet":
            await bench.send(packet[: bench.chance.randrange(beat, len(packet), beat)])
        elif kind == "long_packet":
            await bench.send(packet + packet[: bench.chance.randrange(beat, len(packet), beat)])
        else:
            keep = [1] * len(packet)
            keep[-bench.chance.randint(1, beat - 1) :] = [0] * bench.chance.randint(1, beat - 1)
            await bench.send(packet, (keep + [1] * beat)[: len(packet)])
        if kind != "good":
            wrong[kind] += 1
    assert await bench.receive(len(good)) == bench.right(good)
    await bench.edges(300)
    assert bench.sink.empty()
    for name, count in wrong.items():
        assert await bench.get(f"watch.count_{name}") == count, name
    word, _ = await bench.read(event)
    assert word >> 11 & 7 == 7, f"events {word:#x}"


@cocotb.test(**SHORT)
async def a_packet_of_many_transfers_is_answered_by_one(dut):
    bench = await AxiBench.start(dut, seed=5)
    await bench.put("control.mode", BATCH)
    bench.stall(None)
    packets, first = bench.packets(), 0
    for count in (1, 7, 30):
        await bench.send(b"".join(packets[first : first + count]))
        frame = await bench.sink.recv()
        assert bench.unpacked(bytes(frame.tdata)) == bench.right(range(first, first + count))
        first += count


@cocotb.test(**SHORT)
async def while_it_is_paused_nothing_enters(dut):
    bench = await AxiBench.start(dut, seed=6)
    packets = bench.packets()[:5]
    await bench.put("control.mode", PAUSE)
    for packet in packets:
        await bench.send(packet)
    await bench.edges(100)
    assert bench.sink.empty()
    assert await bench.get("watch.results") == 0
    await bench.put("control.mode", 0)
    assert await bench.receive(5) == bench.right(range(5))


@cocotb.test(**SHORT)
async def a_reset_in_mid_flight_leaves_nothing_behind(dut):
    """Nor does it offer anything while it lasts."""
    bench = await AxiBench.start(dut, seed=7)
    packets = bench.packets()
    for _ in range(6):
        bench.stall(bench.chance.choice((0.1, 0.7)))
        for packet in packets[:20]:
            bench.source.send_nowait(AxiStreamFrame(packet))
        await bench.write_begin(bench.setup.addresses["control.mode"], BATCH)
        await bench.edges(bench.chance.randint(10, 300))
        await bench.reset()
        assert await bench.get("control.mode") == 0
        for packet in packets[20:25]:
            await bench.send(packet)
        assert await bench.receive(5) == bench.right(range(20, 25))
        assert await bench.get("watch.results") == 5
