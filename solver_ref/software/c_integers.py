"""The graph as portable C99 with exact integers: `NAME.c`."""

from __future__ import annotations

from collections.abc import Mapping

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_interface import signatures
from solver_ref.software.c_layout import (
    comment,
    function,
    listed,
    loop,
    port_members,
    port_word,
    run,
    structure,
)
from solver_ref.software.c_nodes import Operand, Tables, statements, table_word
from solver_ref.software.c_sequence import Style, functions
from solver_ref.software.helpers import helpers_for, wide_type
from solver_ref.software.part import Part
from solver_ref.software.ports import Model
from solver_ref.software.words import INT64, WIDE, Word, word_of

_NOTE = "C99, exact integers; no floating point, no memory but the stack."


def source(model: Model) -> str:
    """`NAME.c`. ValueError names a node that needs more than 128 bits."""
    tables = Tables()
    passes = "".join(_pass(model, part, tables) for part in model.parts.values())
    arrays = "".join(_table(*table) for table in tables.items())
    text = arrays + passes + (_sequence_functions(model) if model.sequence else _public(model))
    return (
        f'{comment(model.describe(_NOTE))}#include "{model.name}.h"\n'
        f"{wide_type(text)}{helpers_for(text)}{text}"
    )


def _table(name: str, codes: tuple[int, ...]) -> str:
    word = table_word(codes)
    items = listed(word.initialiser(code) for code in codes)
    return f"\nstatic const {word.type} {name}[{len(codes)}] = {{\n{items}\n}};\n"


def _pass(model: Model, part: Part, tables: Tables) -> str:
    """The function of a graph, and the structures that it reads and writes."""
    name, body = f"{model.name}_{part.name}", _pass_body(part, tables)
    text = structure(f"{name}_in", port_members(part.graph.inputs))
    text += structure(f"{name}_out", port_members(part.graph.output_formats))
    signature = f"static void {name}(const struct {name}_in *in, struct {name}_out *out)"
    return text + function(signature, body)


def _pass_body(part: Part, tables: Tables) -> list[str]:
    """Every node that is used, in order, then the outputs."""
    graph, lines = part.graph, []
    values: dict[int, Operand] = {}
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        if position not in part.used:
            continue
        try:
            word = word_of(span)
            name = f"v{position}"
            if part.code(position) is not None:
                name = word.literal(part.code(position))
            elif part.origin(position) is not None:
                name = values[part.origin(position)].text
            elif isinstance(node, g.Input):
                text = word.convert(f"in->{node.name}", INT64)
                lines.append(f"const {word.type} {name} = {text};")
            else:
                operands = [values[i] for i in node.operands]
                lines += statements(node, name, span, operands, tables)
        except ValueError as error:
            raise ValueError(f"node {position} ({node}): {error}") from None
        values[position] = Operand(name, word, span)
    for output in graph.outputs:
        word = port_word(graph.output_formats[output.name])
        lines.append(f"out->{output.name} = {values[output.node].within(word)};")
    return lines if part.reads else ["(void)in;", *lines]


def _public(model: Model) -> str:
    texts = signatures(model)
    lines = run(
        model, lambda port: _held(port, model.inputs[port]), lambda _, code: INT64.literal(code)
    )
    lines += [f"out->{port} = next.{port};" for port in model.outputs]
    lines += ["return passes;"] if model.iteration else []
    text = function(texts["fits"], _fits(model)) + function(texts["run"], lines)
    text += function(texts["many"], _many(model))
    return text + (function(texts["sequence"], _fed_back(model)) if model.feedback else "")


def _sequence_functions(model: Model) -> str:
    texts, sequence = signatures(model), model.sequence
    style = Style(
        kind="",
        cast="",
        held=lambda port: _held(port, model.inputs[port]),
        first=lambda name: INT64.literal(sequence.registers[name].initial),
        result=lambda name, text: text,
    )
    text = function(texts["fits"], _fits(model)) + functions(model, style)
    call = f"{model.name}(state, &a, &b);"
    lines = _rows(model, _columns(model.inputs), call)
    return text + function(texts["sequence"], loop(_locals(model), lines))


def _fits(model: Model) -> list[str]:
    terms = []
    for port, form in model.inputs.items():
        lo, hi = _ends(form)
        terms.append(f"in->{port} >= {lo} && in->{port} <= {hi}")
    return ["return " + "\n        && ".join(terms) + ";"]


def _ends(form: Format) -> tuple[str, str]:
    return INT64.literal(form.lo), INT64.literal(form.hi)


def _held(port: str, form: Format) -> str:
    return f"kg_limit64(in->{port}, {', '.join(_ends(form))})"


def _columns(ports: Mapping[str, Format]) -> dict[str, str]:
    return {port: f"in[{i}][row]" for i, port in enumerate(ports)}


def _many(model: Model) -> list[str]:
    call = f"{model.name}(&a, &b);"
    return loop(_locals(model), _rows(model, _columns(model.inputs), call))


def _fed_back(model: Model) -> list[str]:
    """Rows that feed the next one."""
    others = {port: form for port, form in model.inputs.items() if port not in model.feedback}
    first, kept = [], []
    for i, (port, source) in enumerate(model.feedback.items()):
        first.append(f"a.{port} = state[{i}];")
        kept.append(f"a.{port} = b.{source};")
    last = [f"state[{i}] = a.{port};" for i, port in enumerate(model.feedback)]
    rows = _rows(model, _columns(others), f"{model.name}(&a, &b);")
    return loop([*_locals(model), *first], [*rows, *kept], last)


def _locals(model: Model) -> list[str]:
    return [f"struct {model.name}_in a;", f"struct {model.name}_out b;"]


def _rows(model: Model, read: Mapping[str, str], call: str) -> list[str]:
    """What is done for a row: reads, runs, writes."""
    written: list[str] = []
    for port, form in model.outputs.items():
        written += _words(f"b.{port}", port_word(form))
    lines = [f"a.{port} = {text};" for port, text in read.items()]
    lines += [f"out[{len(written)}][row] = {call}" if model.iteration else call]
    return lines + [f"out[{i}][row] = {text};" for i, text in enumerate(written)]


def _words(text: str, word: Word) -> list[str]:
    """A value as columns of 64 bits, the lowest first."""
    if word != WIDE:
        return [text]
    return [f"kg_signed({text}.low)", f"kg_signed({text}.high)"]
