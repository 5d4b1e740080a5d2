"""The stand-alone Verilog testbench that goes with a generated kernel, and its vector files.

A vector file (`$readmemh`) has one hexadecimal word a line: the fields of a vector side by side,
the first one in the lowest bits, each in two's complement of its format's width.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solver_ref.fixed import Format

_TEMPLATE = Path(__file__).with_name("testbench_template.v")
_GEOMETRY = re.compile(r"^//@ geometry\n(.*?)^//@ end\n", re.MULTILINE | re.DOTALL)
"""Parts of the template that are for kernels with a load port only."""
_RESULT = re.compile(r"^RESULT (.*)$", re.MULTILINE)


def testbench(
    name: str,
    *,
    inputs: Mapping[str, Format],
    outputs: Mapping[str, Format],
    tag_width: int,
    dut: str | None = None,
    vectors: int = 1000,
    drain: int = 256,
    watchdog: int = 100_000,
    geometry_words: int = 0,
) -> str:
    """Verilog-2001 text of the module `<name>_tb` around a kernel with `hdl.shell` stream ports,
    the module `dut` (default `name`).

    `vectors` is how many it runs by default and at most (define `KINEGATE_CAPACITY` for more);
    `drain` cycles after the last output it still watches for one too many; `watchdog` cycles
    without a transfer are a failure; `geometry_words` is how many the kernel's load port takes, the
    checksum included. The header of the text lists its options.
    """
    if not 1 <= tag_width <= 31:
        raise ValueError(f"tag_width must be between 1 and 31, not {tag_width}")
    words = {
        "NAME": name,
        "DUT": dut or name,
        "VECTORS": vectors,
        "DRAIN": drain,
        "WATCHDOG": watchdog,
        "IN_BITS": _bits(inputs),
        "OUT_BITS": _bits(outputs),
        "TAG_BITS": tag_width,
        "IN_WORD": _picture(inputs),
        "OUT_WORD": _picture(outputs),
        "DECLARATIONS": _declarations(outputs),
        "CONNECTIONS": _connections(inputs, outputs),
        "COMPARISONS": _comparisons(outputs),
        "GEOMETRY_WORDS": geometry_words,
    }
    return filled(_TEMPLATE, words, geometry=geometry_words > 0)


def filled(template: Path, words: Mapping[str, object], *, geometry: bool) -> str:
    """A template with its `@WORD@`s replaced, and its parts for a load port where there is one."""
    text = _GEOMETRY.sub(r"\1" if geometry else "", template.read_text())
    return re.sub(r"@(\w+)@", lambda match: str(words[match[1]]), text)


def _bits(fields: Mapping[str, Format]) -> int:
    return sum(form.width for form in fields.values())


def _places(fields: Mapping[str, Format]) -> dict[str, str]:
    """Each field's bits in the word, as a Verilog part select."""
    places, low = {}, 0
    for name, form in fields.items():
        places[name] = f"[{low + form.width - 1}:{low}]"
        low += form.width
    return places


def _picture(fields: Mapping[str, Format]) -> str:
    places = _places(fields)
    return ", ".join(f"{name}{places[name]} {form}" for name, form in fields.items())


def _declarations(outputs: Mapping[str, Format]) -> str:
    lines = [f"  wire [{form.width - 1}:0] o_{name};" for name, form in outputs.items()]
    word = ", ".join(f"o_{name}" for name in reversed(outputs))
    return "\n".join([*lines, f"  wire [OUT_BITS-1:0] out_word = {{{word}}};"])


def _connections(inputs: Mapping[str, Format], outputs: Mapping[str, Format]) -> str:
    lines = [f"    .i_{name}(in_word{place})" for name, place in _places(inputs).items()]
    return ",\n".join(lines + [f"    .o_{name}(o_{name})" for name in outputs])


def _comparisons(outputs: Mapping[str, Format]) -> str:
    lines = []
    for (name, place), form in zip(_places(outputs).items(), outputs.values(), strict=True):
        show = "$signed({})" if form.signed else "{}"
        got, want = show.format(f"out_word{place}"), show.format(f"expected{place}")
        lines += [
            f"        if (out_word{place} !== expected{place})",
            f'          $display("MISMATCH vector=%0d field={name} got=%0d expected=%0d",',
            f"            received, {got}, {want});",
        ]
    return "\n".join(lines)


def write_hex(path: Path, formats: Mapping[str, Format], codes: Mapping[str, np.ndarray]) -> None:
    """Write vectors, from arrays of codes of one length by field name.

    ValueError for a code outside its format or arrays of different lengths.
    """
    columns = []
    for name, form in formats.items():
        column = [int(code) for code in np.asarray(codes[name]).ravel()]
        if column and (min(column) < form.lo or max(column) > form.hi):
            raise ValueError(f"{name} has codes outside {form}")
        columns.append([code & ((1 << form.width) - 1) for code in column])
    digits = -(-_bits(formats) // 4)
    shifts = np.cumsum([0, *(form.width for form in formats.values())]).tolist()
    lines = []
    for fields in zip(*columns, strict=True):
        word = sum(code << shift for code, shift in zip(fields, shifts, strict=False))
        lines.append(f"{word:0{digits}x}\n")
    Path(path).write_text("".join(lines))


def write_words(path: Path, words: Sequence[int]) -> None:
    """Write what a load port takes (`solver_ref.parameters.words`), for `+geometry`."""
    Path(path).write_text("".join(f"{word:08x}\n" for word in words))


def read_hex(path: Path, formats: Mapping[str, Format]) -> dict[str, np.ndarray]:
    """The codes that `write_hex` or a testbench's `+out` wrote: int64, or Python integers where a
    format is wider. ValueError names a line that is not a word (X bits among them)."""
    words = []
    for number, line in enumerate(Path(path).read_text().splitlines(), start=1):
        try:
            words.append(int(line, 16))
        except ValueError:
            raise ValueError(f"{path}: line {number} is no hexadecimal word: {line!r}") from None
    codes, low = {}, 0
    for name, form in formats.items():
        mask, sign = (1 << form.width) - 1, (1 << (form.width - 1)) if form.signed else 0
        column = [(((word >> low) & mask) ^ sign) - sign for word in words]
        codes[name] = np.array(column, dtype=np.int64 if form.hi < 1 << 63 else object)
        low += form.width
    return codes


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """The last line of a testbench. Cycles run from the reset to the last output; sums are over the
    `received` vectors (latency) and the gaps between the accepted ones (ii)."""

    vectors: int
    received: int
    mismatches: int
    cycles: int
    latency_min: int
    latency_max: int
    latency_sum: int
    ii_min: int
    ii_max: int
    ii_sum: int
    resets: int
    timeout: int

    @property
    def passed(self) -> bool:
        return self.received == self.vectors and not self.mismatches and not self.timeout

    @property
    def latency_mean(self) -> float:
        return self.latency_sum / max(self.received, 1)

    @property
    def ii_mean(self) -> float:
        return self.ii_sum / max(self.vectors - 1, 1)


def parse_result(stdout: str) -> BenchResult:
    """Read what a testbench printed; ValueError with its end when it gave no result."""
    lines = _RESULT.findall(stdout)
    if len(lines) != 1:
        tail = "\n".join(stdout.splitlines()[-10:])
        raise ValueError(f"expected one RESULT line from the testbench, got {len(lines)}:\n{tail}")
    return BenchResult(
        **{name: int(value) for name, value in (item.split("=") for item in lines[0].split())}
    )


def read_trace(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Accept and present cycles of each vector from a testbench's `+trace` file, in order."""
    table = np.loadtxt(path, dtype=np.int64, ndmin=2).reshape(-1, 3)
    return table[:, 1], table[:, 2]
