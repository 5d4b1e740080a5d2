# amaranth: UnusedElaboratable=no

"""The host's end of the serial link against the verilated hardware, bit by bit on the lines."""

import dataclasses

import numpy as np
import pytest
from axi_toys import toy_rows
from serial_line import FACTS, NAME, frame, toy_interface, toy_shell

from boards.serial_host import BABBLE, LinkError, SerialHost
from hdl.serial_map import SYNC, Kind, Refusal
from hdl.verilog import verilog
from sim.serial_model import SerialModel
from sim.tools import available

pytestmark = pytest.mark.skipif(
    available("verilator") is not None, reason=str(available("verilator"))
)


def boards(folder, **timing):
    """Makes boards: toys that were reset, each behind a line."""
    shell = toy_shell(**timing)
    file = folder / f"{NAME}.v"
    file.write_text(verilog(shell, NAME, "a toy"))
    made = []

    def board():
        sizes = {"divider": shell.divider, "silence": 2 * shell.quiet}
        made.append(SerialModel(file, NAME, folder, **sizes))
        return made[-1]

    yield board
    for model in made:
        model.close()


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    yield from boards(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A kernel that takes two and a half times as long as its requests."""
    yield from boards(tmp_path_factory.mktemp("slow"), latency=5, ii=8400)


class Bad:
    """A line on which `change` may do something to the numbered pieces that are written or read."""

    def __init__(self, board, written=lambda number, data: data, read=lambda number, data: data):
        self.board, self._written, self._read = board, written, read
        self.writes = self.reads = 0

    @property
    def in_waiting(self):
        return self.board.in_waiting

    def write(self, data):
        self.writes += 1
        return self.board.write(self._written(self.writes, data))

    def read(self, size):
        data = self.board.read(size)
        self.reads += bool(data)
        return self._read(self.reads, data) if data else data


def check(port, count, **words):
    """All rows are answered right; the losses on the way."""
    rows, right = toy_rows(count)
    host = SerialHost(port, toy_interface(), **words)
    host.identify()
    got = host.solve(rows)
    for name, column in right.items():
        assert np.array_equal(got[name], column), name
    return host.losses


@pytest.mark.parametrize("window", [1, 4])
def test_rows_come_back_bit_for_bit(toy, window):
    """More of them than there are sequence numbers."""
    losses = check(toy(), 300, window=window)
    assert losses.sent_again == losses.silences == losses.stray_bytes == 0


def test_a_kernel_that_is_slower_than_the_line_answers_all_rows(slow):
    losses = check(slow(), 30, window=4)
    assert set(losses.refusals) == {"the transfer before it still waits for the kernel"}
    assert losses.silences == 0


def test_a_corrupted_request_is_sent_again(toy):
    def corrupted(number, data):
        return data[:9] + bytes([data[9] ^ 4]) + data[10:] if number == 3 else data

    losses = check(Bad(toy(), written=corrupted), 8)
    assert (losses.sent_again, list(losses.refusals)) == (
        1,
        ["the frame's CRC is not that of its bytes"],
    )


def test_a_request_that_lost_a_byte_is_sent_again(toy):
    losses = check(Bad(toy(), written=lambda n, d: d[:12] + d[13:] if n == 4 else d), 8, window=1)
    assert losses.sent_again == losses.silences == 1


def test_an_answer_that_is_corrupted_or_lost_a_byte_is_asked_for_again(toy):
    def worn(number, data):
        if number == 60:
            return bytes([data[0] ^ 1]) + data[1:]
        return data[1:] if number == 150 else data

    losses = check(Bad(toy(), read=worn), 12, window=1)
    assert losses.sent_again == 2
    assert losses.stray_bytes > 0


def test_garbage_before_the_frames_of_either_side_is_skipped(toy):
    board = toy()
    board.write(bytes([0, 255, SYNC, SYNC, 1, 2, 0x55, SYNC, 2]))
    first = bytes([SYNC, 0x82, 0, 8, 17, SYNC])
    losses = check(Bad(board, read=lambda n, data: first + data if n == 1 else data), 4)
    assert losses.stray_bytes >= len(first)


@pytest.mark.parametrize("name", ["design", "geometry"])
def test_a_board_with_another_design_is_refused(toy, name):
    facts = dataclasses.replace(FACTS, **{name: 0x12345678})
    host = SerialHost(toy(), toy_interface(facts=facts))
    was = f"{getattr(FACTS, name):08x}"
    with pytest.raises(LinkError) as error:
        host.identify()
    assert str(error.value) == (
        f"the board has another design: its digest of {name} is {was}, not 12345678"
    )


class Dead:
    """Nobody at the other end; `babble` is what the line says all the time."""

    def __init__(self, babble=b""):
        self.in_waiting, self._babble = len(babble), babble

    def write(self, data):
        return len(data)

    def read(self, size):
        return self._babble


@pytest.mark.parametrize("babble", [b"", b"\x55" * (BABBLE // 8), bytes([SYNC]) * (BABBLE // 8)])
def test_no_answer_is_told(babble):
    host = SerialHost(Dead(babble), toy_interface())
    with pytest.raises(LinkError, match="^no kinegate design answers on this port$"):
        host.identify()


def test_a_board_that_falls_silent_is_told_by_its_row(toy):
    rows, _ = toy_rows(5)
    host = SerialHost(Bad(toy(), written=lambda n, data: data if n < 4 else b""), toy_interface())
    host.identify()
    with pytest.raises(LinkError) as error:
        host.solve(rows)
    assert str(error.value) == "row 3 was sent 4 times to the board: it does not answer"


class Full:
    """A board that takes `depth` requests and never answers them, and refuses all others."""

    def __init__(self, depth):
        self._left, self._said = depth, b""

    @property
    def in_waiting(self):
        return len(self._said)

    def write(self, data):
        if self._left:
            self._left -= 1
        else:
            self._said += frame(Kind.REFUSAL, data[2], (Refusal.OVERRUN,))

    def read(self, size):
        said, self._said = self._said[:size], self._said[size:]
        return said


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("window", [1, 4])
def test_a_kernel_that_is_stuck_is_told(depth, window):
    rows, _ = toy_rows(10)
    host = SerialHost(Full(depth), toy_interface(), window=window)
    with pytest.raises(LinkError, match="sent 4 times .*: the transfer before it still waits"):
        host.solve(rows)


def test_a_port_that_breaks_is_told():
    class Unplugged(Dead):
        def read(self, size):
            raise OSError(5, "Input/output error")

    with pytest.raises(LinkError, match="^the port cannot be read: .*Input/output error$"):
        SerialHost(Unplugged(), toy_interface()).identify()
