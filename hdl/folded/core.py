"""The folded core in hardware: memory, multiplier, shifter and adder, one instruction a cycle."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hdl.folded.instruction import WORD, Instruction, Operation, Source
from hdl.folded.product import Product, factor_bits
from hdl.folded.program import Program
from hdl.folded.stages import stages
from hdl.operators import extend, leading_zeros, multiplexer
from hdl.reorder import NO_COLLISIONS
from hdl.target import Target
from solver_ref.fixed import Range

GROUP = 8
"""The first stage of the shifter moves by multiples of so many bits, the second by fewer."""
GROUP_BITS = 3

_SAME = ("a", "b", "c", "result", "operation", "source", "varying", "even", "lift", "drop")
"""Fields of an instruction that stand in its word as they are."""


class FoldedCore(wiring.Component):
    """Runs the instructions that it is told to.

    *Parameters*: the program; the target, whose multipliers it takes four of; `behavioural`,
    multipliers as plain registers.

    *Members*: `run`, high while `slot` is the number of an instruction to start; `load`, `cell`,
    `code`: a cell to be written, while nothing runs; `written`, `at`, `result`: what is being
    written by an instruction that started `program.latency` cycles ago.
    """

    def __init__(self, program: Program, target: Target, *, behavioural: bool = False) -> None:
        self.program, self.target, self._behavioural = program, target, behavioural
        self.stages = stages(target.family)
        assert program.latency == self.stages.latency
        self.address_bits = max(1, (program.cells - 1).bit_length())
        self.x_width = max(program.x_width, program.width) + 1
        self.wide = max(2 * factor_bits(target), program.width + self.x_width)
        super().__init__(
            {
                "run": In(1),
                "slot": In(range(len(program.slots))),
                "load": In(1),
                "cell": In(self.address_bits),
                "code": In(signed(program.width)),
                "written": Out(1),
                "at": Out(self.address_bits),
                "result": Out(signed(program.width)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        word = self._word(m)
        line = _Line(m, word)
        self._operands(m, line)
        self._sources(m, line)
        self._shift(line)
        self._sum(line)
        self._write(m, line)
        return m

    # -- instruction words -----------------------------------------------------------------------

    @property
    def layout(self) -> dict[str, int]:
        """Widths of an instruction word's fields, lowest first."""
        addresses = dict.fromkeys(("a", "b", "c", "result"), self.address_bits)
        amounts = {"amount": self.x_width.bit_length(), "table": self._table_bits}
        flags = dict.fromkeys(("varying", "even", "lift", "drop", "write"), 1)
        return addresses | {"operation": 4, "source": 3} | amounts | flags

    @property
    def _table_bits(self) -> int:
        return max(1, (len(self.program.tables) - 1).bit_length())

    def _encoded(self, entry: Instruction | None) -> int:
        """The word of a slot. LEFT is a shift to the right of A in front of zeros."""
        values = dict.fromkeys(self.layout, 0)
        if entry:
            values |= {name: int(getattr(entry, name) or 0) for name in _SAME}
            values["write"] = 1
            if entry.source is Source.TABLE:
                values["table"] = entry.shift
            elif entry.source is Source.LEFT:
                values["amount"] = self.x_width - entry.shift
            else:
                values["amount"] = entry.shift
        word, low = 0, 0
        for name, width in self.layout.items():
            assert 0 <= values[name] < 1 << width, (name, entry)
            word |= values[name] << low
            low += width
        return word

    def _word(self, m: Module) -> dict[str, Value]:
        words = [self._encoded(entry) for entry in self.program.slots]
        width = sum(self.layout.values())
        m.submodules.program = memory = Memory(shape=width, depth=len(words), init=words)
        read, running, fields, low = memory.read_port(), Signal(), {}, 0
        m.d.comb += read.addr.eq(self.slot)
        m.d.sync += running.eq(self.run)
        for name, size in self.layout.items():
            fields[name] = read.data[low : low + size]
            low += size
        # What is read while nothing runs writes nothing.
        return fields | {"write": fields["write"] & running}

    # -- stages ----------------------------------------------------------------------------------

    def _operands(self, m: Module, line: _Line) -> None:
        """A memory for each operand, all with the same codes."""
        program = self.program
        codes = [program.initial.get(cell, 0) for cell in range(program.cells)]
        for name in ("a", "b", "c"):
            memory = Memory(
                shape=signed(program.width), depth=len(codes), init=codes, attrs=NO_COLLISIONS
            )
            m.submodules[f"memory_{name}"] = memory
            read, write = memory.read_port(), memory.write_port()
            m.d.comb += [
                read.addr.eq(line.at(name, 1)),
                write.en.eq(self.load | self.written),
                write.addr.eq(Mux(self.load, self.cell, self.at)),
                write.data.eq(Mux(self.load, self.code, self.result)),
            ]
            line.put(f"code_{name}", 2, read.data)

    def _sources(self, m: Module, line: _Line) -> None:
        """What is shifted, by how much, and zeros or signs beside it."""
        at = self.stages.product
        m.submodules.product = product = Product(
            self.target, latency=at - 2, behavioural=self._behavioural
        )
        m.d.comb += [
            product.a.eq(line.at("code_a", 2)),
            product.b.eq(line.at("code_b", 2)),
        ]
        self._zeros(m, line)
        self._entry(m, line)
        source, code = line.at("source", at), line.at("code_a", at)
        choices = {
            Source.PRODUCT: product.p,
            Source.LEFT: Cat(Const(0, self.x_width), code).as_signed(),
            Source.ZEROS: line.at("zeros", at),
            Source.TABLE: line.at("entry", at),
        }
        wide: Value = extend(code, self.wide)
        for kind, value in choices.items():
            wide = Mux(source == kind, extend(value, self.wide), wide)
        line.put("wide", at, wide.as_signed())
        fixed = line.at("amount", at)
        varying = line.at("code_b", at)[: len(fixed)]
        own = Mux(source == Source.LEFT, self.x_width - varying, varying)[: len(fixed)]
        line.put("moved", at, Mux(line.at("varying", at), own, fixed))

    def _zeros(self, m: Module, line: _Line) -> None:
        """Zeros above the first one of A in a word of `WORD` bits: in groups, then among them."""
        code = line.at("code_a", 3)
        groups = [code[max(top - GROUP, 0) : top] for top in range(len(code), 0, -GROUP)]
        found = Signal(len(groups), reset_less=True)
        inside = [Signal(range(GROUP), reset_less=True) for _ in groups]
        m.d.sync += found.eq(Cat(group.any() for group in groups))
        m.d.sync += [to.eq(leading_zeros(group)) for to, group in zip(inside, groups, strict=True)]
        count: Value = Const(WORD)
        for number in reversed(range(len(groups))):
            above = WORD - len(code) + GROUP * number
            count = Mux(found[number], inside[number] + above, count)
        line.put("zeros", 4, Cat(count[: WORD.bit_length()], Const(0, 1)).as_signed())

    def _entry(self, m: Module, line: _Line) -> None:
        """A's entry in a table; the tables stand behind each other in one memory."""
        tables = self.program.tables
        if not tables:
            line.put("entry", 3, Const(0, signed(1)))
            return
        index = max(1, (max(map(len, tables)) - 1).bit_length())
        codes = [code for table in tables for code in (*table, *[0] * ((1 << index) - len(table)))]
        width = Range(min(codes), max(codes), 0).width
        m.submodules.tables = memory = Memory(shape=signed(width), depth=len(codes), init=codes)
        read = memory.read_port()
        address = Cat(line.at("code_a", 2)[:index], line.at("table", 2))
        m.d.comb += read.addr.eq(address[: len(read.addr)])
        line.put("entry", 3, read.data)

    def _shift(self, line: _Line) -> None:
        """To the right by multiples of `GROUP`, then by less; `half` is the highest of the bits
        that fall off, `more` whether a lower one of them is set."""
        at = self.stages.wide
        wide, amount = line.at("wide", at), line.at("moved", at)
        steps, select = range(-(-self.wide // GROUP)), amount[GROUP_BITS:]
        width = self.x_width + GROUP - 1
        shifted = [extend(_above(wide, GROUP * n), width) for n in steps]
        line.put("coarse", at, _chosen(select, shifted).as_signed())
        edges = [wide[GROUP * n - 1] if n else Const(0, 1) for n in steps]
        line.put("half", at, _chosen(select, edges))
        rests = [_any(wide[: max(GROUP * n - 1, 0)]) for n in steps]
        line.put("more", at, _chosen(select, rests))
        at = self.stages.coarse
        coarse, half, more = (line.at(name, at) for name in ("coarse", "half", "more"))
        fine, steps = line.at("moved", at)[:GROUP_BITS], range(GROUP)
        x = _chosen(fine, [extend(coarse[n:].as_signed(), self.x_width) for n in steps])
        edge = _chosen(fine, [coarse[n - 1] if n else half for n in steps])
        below = half | more
        rest = _chosen(fine, [_any(coarse[: n - 1]) | below if n else more for n in steps])
        line.put("x", at, x.as_signed())
        line.put("up", at, line.at("even", at) & edge & (rest | x[0]))

    def _sum(self, line: _Line) -> None:
        """C + X, C - X or X - C by one adder; comparisons look at the sign of C - X."""
        at, width = self.stages.shifted, self.x_width + 1
        up, operation, code = (line.at(name, at) for name in ("up", "operation", "code_c"))
        c = extend(Mux(line.at("lift", at), Cat(Const(0, 1), code), code).as_signed(), width)
        x = extend(line.at("x", at), width)
        reverse, add = operation == Operation.REVERSE, operation == Operation.ADD
        first = (c ^ reverse.replicate(width)).as_signed()
        second = (x ^ (~add & ~reverse).replicate(width)).as_signed()
        total = first + second + Mux(add, up, reverse | ~up)
        line.put("total", at, total[:width].as_signed())
        line.put("c", at, c)
        line.put("under", at, x < line.at("code_b", at))

    def _write(self, m: Module, line: _Line) -> None:
        at, width = self.stages.added, len(self.result)
        total, operation = line.at("total", at), line.at("operation", at)
        x, c = (extend(line.at(name, at), width) for name in ("x", "c"))
        b, negative = extend(line.at("code_b", at), width), total[-1]
        halved = extend(total[1:].as_signed(), width)
        sums = Mux(line.at("drop", at), halved, extend(total, width))
        limit, select = operation == Operation.LIMIT, operation == Operation.SELECT
        # C < X is what takes C as a limit, X as a maximum.
        takes_x = Mux(select, b[0], negative ^ ((operation == Operation.MINIMUM) | limit))
        picked = Mux(limit & line.at("under", at), b, Mux(takes_x, x, c))
        flag = Mux(operation == Operation.LESS, negative, total.any())
        is_flag = (operation == Operation.LESS) | (operation == Operation.DIFFERS)
        is_sum = operation <= Operation.REVERSE
        m.d.sync += [
            self.result.eq(Mux(is_sum, sums, Mux(is_flag, flag, picked.as_unsigned()))),
            self.at.eq(line.at("result", at)),
            self.written.eq(line.at("write", at)),
        ]


class _Line:
    """Values that travel beside their instruction: a register for each stage that is read."""

    def __init__(self, m: Module, word: dict[str, Value]) -> None:
        self._m = m
        self._values: dict[tuple[str, int], Value] = {(n, 1): v for n, v in word.items()}

    def put(self, name: str, stage: int, value: Value) -> None:
        """The value stands while its instruction is in the stage."""
        stands = Signal(value.shape(), name=f"{name}_{stage}")
        self._m.d.comb += stands.eq(value)
        self._values[name, stage] = stands

    def at(self, name: str, stage: int) -> Value:
        known = self._values.get((name, stage))
        if known is not None:
            return known
        before = self.at(name, stage - 1)
        resettable = name == "write"
        kept = Signal(before.shape(), name=f"{name}_{stage}", reset_less=not resettable)
        self._m.d.sync += kept.eq(before)
        self._values[name, stage] = kept
        return kept


def _above(value: Value, count: int) -> Value:
    return value[min(count, len(value) - 1) :].as_signed()


def _any(value: Value) -> Value:
    return value.any() if len(value) else Const(0)


def _chosen(select: Value, choices: list[Value]) -> Value:
    """The choice of a number; the last one beyond them."""
    choices = choices + [choices[-1]] * ((1 << len(select)) - len(choices))
    return multiplexer(list(select), [Value.cast(choice).as_unsigned() for choice in choices])
