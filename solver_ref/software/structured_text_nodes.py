"""Each node as Structured Text on LINT, the 64-bit signed integer of IEC 61131-3.

Flags are 0 or 1 in a LINT. `/` cuts towards zero and `SHR` is no arithmetic shift, so that every
division here has an operand that cannot be negative: a multiple of the divisor is added before and
its quotient taken off after.
"""

from __future__ import annotations

from functools import singledispatch

from solver_ref import graph as g
from solver_ref.fixed import Range
from solver_ref.ranges import rounded
from solver_ref.templates import Templates, filled

MOST = (1 << 63) - 1
SCRATCH = "kg_rest"
POWERS = "kg_power"


def lint(code: int) -> str:
    """A LINT constant; ValueError where LINT does not hold it."""
    fit(code)
    return f"LINT#{code}" if code >= 0 else f"(LINT#{code})"


def fit(*codes: int) -> None:
    """ValueError unless LINT holds every code and its opposite."""
    most = max(abs(code) for code in codes)
    if most > MOST:
        raise ValueError(f"LINT has 64 bits, and this needs {most.bit_length() + 1}")


def _choice(condition: str, yes: str, no: str) -> str:
    return f"SEL({condition}, {no}, {yes})"


def _flag(condition: str) -> str:
    return _choice(condition, lint(1), lint(0))


_TEMPLATES: Templates = {
    g.Add: "{a} + {b}",
    g.Subtract: "{a} - {b}",
    g.Multiply: "{a} * {b}",
    g.Negate: "-{a}",
    g.Absolute: "ABS({a})",
    g.Maximum: "MAX({a}, {b})",
    g.Minimum: "MIN({a}, {b})",
    g.Less: _flag("{a} < {b}"),
    g.And: "MIN({a}, {b})",
    g.Or: "MAX({a}, {b})",
    g.Not: "LINT#1 - {a}",
    g.Select: _choice("{condition} <> LINT#0", "{a}", "{b}"),
}


@singledispatch
def statements(
    node: g.Node, name: str, span: Range, spans: list[Range], *operands: str
) -> list[str]:
    """The statements that set the variable `name`, whose range is `span`."""
    return _set(name, filled(_TEMPLATES, node, operands))


def _set(name: str, text: str) -> list[str]:
    return [f"{name} := {text};"]


def _left(text: str, span: Range, bits: int) -> str:
    """text * 2**bits."""
    if span.lo == span.hi:
        return lint(span.lo << bits)
    fit(span.lo << bits, span.hi << bits)
    return f"{text} * {lint(1 << bits)}" if bits else text


def _lifted(text: str, span: Range, divisor: int) -> tuple[str, int]:
    """The text plus a multiple of twice the divisor that leaves nothing negative; the multiple."""
    lift = 2 * divisor * -(span.lo // (2 * divisor)) if span.lo < 0 else 0
    fit(span.hi + lift, lift)
    return (f"({text} + {lint(lift)})" if lift else text), lift


def _floor(text: str, span: Range, bits: int) -> str:
    """floor(text / 2**bits)."""
    if not bits:
        return text
    if bits > 62:
        return _choice(f"{text} < {lint(0)}", lint(-1), lint(0))
    lifted, lift = _lifted(text, span, 1 << bits)
    quotient = f"{lifted} / {lint(1 << bits)}"
    return f"{quotient} - {lint(lift >> bits)}" if lift else quotient


@statements.register(g.Add)
@statements.register(g.Subtract)
def _(node: g.Binary, name, span, spans, *operands):
    lefts = [span.fraction - s.fraction for s in spans]
    aligned = [_left(*each) for each in zip(operands, spans, lefts, strict=True)]
    return _set(name, filled(_TEMPLATES, node, aligned))


@statements.register
def _(node: g.Narrow, name, span, spans, a):
    operand, drop, lines = spans[0], spans[0].fraction - node.fraction, []
    if node.rounding == "half_even" and drop:
        up = (1 << (drop - 1)) - 1
        if drop > 61:
            raise ValueError(f"LINT has 64 bits, and rounding {drop} of them needs more")
        lifted, _ = _lifted(a, operand, 1 << drop)  # an even quotient of the lift keeps oddness
        lines += _set(name, f"{a} + {lint(up)} + ({lifted} / {lint(1 << drop)}) MOD {lint(2)}")
        operand = Range(operand.lo + up, operand.hi + up + 1, operand.fraction)
        a = name
    lo, hi = (rounded(x, drop, node.rounding) for x in (spans[0].lo, spans[0].hi))
    text = _floor(a, operand, drop)
    if not (node.lo <= lo and hi <= node.hi):
        text = _limited(node, text, span, Range(lo, hi, node.fraction))
    return lines + _set(name, text)


def _limited(node: g.Narrow, text: str, span: Range, exact: Range) -> str:
    """What happens to a rounded code that may lie outside the limits."""
    if node.overflow == "saturate":
        return f"LIMIT({lint(span.lo)}, {text}, {lint(span.hi)})"
    if node.overflow == "proven":
        return text
    size = node.hi - node.lo + 1
    shifted = Range(exact.lo - node.lo, exact.hi - node.lo, exact.fraction)
    fit(shifted.lo, shifted.hi)
    text, _ = _lifted(f"({text} - {lint(node.lo)})" if node.lo else f"({text})", shifted, size)
    return f"{text} MOD {lint(size)}" + (f" + {lint(node.lo)}" if node.lo else "")


@statements.register
def _(node: g.Difference, name, span, spans, a, b):
    fit(spans[0].lo - spans[1].hi, spans[0].hi - spans[1].lo)
    return _set(name, f"LIMIT({lint(span.lo)}, {a} - {b}, {lint(span.hi)})")


@statements.register
def _(node: g.Outside, name, span, spans, a):
    terms = [f"{a} < {lint(node.lo)}"] if spans[0].lo < node.lo else []
    terms += [f"{a} > {lint(node.hi)}"] if spans[0].hi > node.hi else []
    return _set(name, _flag(" OR ".join(f"({x})" for x in terms) if terms[1:] else terms[0]))


@statements.register
def _(node: g.LeadingZeros, name, span, spans, a):
    """Halving the word that is searched; what is left in the end is 0 or 1."""
    lines = [f"{SCRATCH} := {a};", f"{name} := {lint(node.width)};"]
    for bits in (32, 16, 8, 4, 2, 1):
        if spans[0].hi >> bits:
            power = lint(1 << bits)
            lines += [
                f"IF {SCRATCH} >= {power} THEN",
                f"    {SCRATCH} := {SCRATCH} / {power};",
                f"    {name} := {name} - {lint(bits)};",
                "END_IF;",
            ]
    return [*lines, f"{name} := {name} - {SCRATCH};"]


@statements.register
def _(node: g.ShiftLeft, name, span, spans, a, b):
    fit(1 << spans[1].hi)
    return _set(name, f"{a} * {POWERS}[{b}]")


@statements.register
def _(node: g.ShiftRight, name, span, spans, a, b):
    most = 1 << spans[1].hi
    fit(most)
    lifted, lift = _lifted(a, spans[0], most)
    text = f"{lifted} / {POWERS}[{b}]"
    return _set(name, f"{text} - {lint(lift)} / {POWERS}[{b}]" if lift else text)


@statements.register
def _(node: g.Join, name, span, spans, high, low):
    return _set(name, f"{_left(high, spans[0], node.bits)} + {low}")
