"""Pieces of C text that the generated files share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from solver_ref.fixed import Format
from solver_ref.software.ports import Model
from solver_ref.software.words import Word, smallest_word

Member = tuple[str, str, str]
"""The type, the name and a note of a member of a structure."""


def comment(lines: Iterable[str]) -> str:
    """A block comment of these lines."""
    body = "".join(f" * {line.replace('*/', '* /')}".rstrip() + "\n" for line in lines)
    return f"/*\n{body} */\n"


def remark(text: str) -> str:
    """A comment in front of a declaration, on lines of 100 characters."""
    return textwrap.fill(text, 97, initial_indent="/* ", subsequent_indent="   ") + " */\n"


def structure(name: str, members: Sequence[Member]) -> str:
    """The declaration of a structure."""
    lines = "".join(
        f"    {kind} {member};{note and f' /* {note} */'}\n" for kind, member, note in members
    )
    return f"\nstruct {name} {{\n{lines}}};\n"


def function(signature: str, lines: Iterable[str]) -> str:
    """The definition of a function with these statements."""
    body = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    return f"\n{signature}\n{{\n{body}}}\n"


def listed(items: Iterable[str]) -> str:
    """The items of an initialiser on lines of 100 characters."""
    return textwrap.fill(", ".join(items), 100, initial_indent="    ", subsequent_indent="    ")


def port_word(form: Format) -> Word:
    """The word of a port: 64 bits, or what is wider."""
    return smallest_word(form.lo, form.hi, -(1 << 63))


def port_members(formats: Mapping[str, Format]) -> list[Member]:
    """The ports as integers: their codes."""
    return [(port_word(form).type, name, str(form)) for name, form in formats.items()]


def real_type(form: Format) -> str:
    """Quantities are doubles; counts, words of bits and choices (no fraction) stay integers."""
    return "double" if form.fraction else "int64_t"


def real_members(formats: Mapping[str, Format]) -> list[Member]:
    """The ports as what they stand for."""
    return [(real_type(form), name, str(form)) for name, form in formats.items()]


def power(exponent: int) -> str:
    """2**exponent as a C constant."""
    return f"0x1p{exponent:+d}"


def run(
    model: Model, given: Callable[[str], str], constant: Callable[[str, int], str]
) -> list[str]:
    """The statements that leave the results in `next`, and for an iteration the number of passes in
    `passes` (0 where they were not enough).

    `given` is the text of a field of the caller, `constant` that of a state's first code.
    """
    name, iteration = model.name, model.iteration
    lines = [f"struct {name}_pass_in now;", f"struct {name}_pass_out next;"]
    if iteration is None:
        lines += [f"now.{port} = {given(port)};" for port in model.inputs]
        return [*lines, f"{name}_pass(&now, &next);"]
    for state in iteration.state:
        first = iteration.initial[state]
        value = given(first) if isinstance(first, str) else constant(state, first)
        lines.append(f"now.{state} = {value};")
    lines += [f"now.{port} = {given(port)};" for port in iteration.inputs]
    return [
        *lines,
        "int passes;",
        f"for (passes = 1; passes <= {iteration.max_passes}; passes++) {{",
        f"    {name}_pass(&now, &next);",
        f"    if (next.{iteration.done})",
        "        break;",
        *(f"    now.{state} = next.next_{state};" for state in iteration.state),
        "}",
        f"passes = passes <= {iteration.max_passes} ? passes : 0;",
    ]


def loop(before: Iterable[str], each: Iterable[str], after: Iterable[str] = ()) -> list[str]:
    """What stands before a loop over rows, in it, and after it."""
    rows = "for (row = 0; row < rows; row++) {"
    return ["size_t row;", *before, rows, *(f"    {line}" for line in each), "}", *after]
