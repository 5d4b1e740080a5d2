"""`NAME_double.c`: values in and out of the integer code, and the same graph in plain double."""

from __future__ import annotations

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_double_nodes import expression, real, whole_nodes
from solver_ref.software.c_interface import signatures
from solver_ref.software.c_layout import (
    Member,
    comment,
    function,
    listed,
    loop,
    port_word,
    power,
    run,
    structure,
)
from solver_ref.software.c_sequence import Style, functions
from solver_ref.software.helpers import helpers_for
from solver_ref.software.part import Part
from solver_ref.software.ports import Model
from solver_ref.software.words import INT64

_Tables = dict[tuple[int, tuple[int, ...]], str]
"""The arrays' names by the fraction and codes of what they hold."""

_NOTE = "Doubles: the integer code from values, and the same graph without rounding."


def source(model: Model) -> str:
    """`NAME_double.c`. ValueError for a graph that has no meaning in double: one that `split` cut
    into pieces."""
    for port, form in model.outputs.items():
        if port_word(form) != INT64:
            raise ValueError(f"output {port!r} is {form}, wider than 64 bits")
    tables: _Tables = {}
    passes = "".join(_pass(model, part, tables) for part in model.parts.values())
    text = ""
    for (fraction, codes), table in tables.items():
        items = listed(real(code, fraction)[1:-1] for code in codes)
        text += f"\nstatic const double {table}[{len(codes)}] = {{\n{items}\n}};\n"
    texts = signatures(model)
    text += passes + function(texts["real"], _encoded(model))
    text += _sequence_functions(model) if model.sequence else _public(model)
    return f'{comment(model.describe(_NOTE))}#include "{model.name}.h"\n{helpers_for(text)}{text}'


def _pass(model: Model, part: Part, tables: _Tables) -> str:
    name = f"{model.name}_{part.name}"
    text = structure(f"{name}_in", _doubles(part.graph.inputs))
    text += structure(f"{name}_out", _doubles(part.graph.output_formats))
    signature = f"static void {name}(const struct {name}_in *in, struct {name}_out *out)"
    return text + function(signature, _pass_body(part, tables))


def _doubles(formats: dict[str, Format]) -> list[Member]:
    return [("double", name, "") for name in formats]


def _pass_body(part: Part, tables: _Tables) -> list[str]:
    graph, lines = part.graph, []
    whole = whole_nodes(graph)
    for position, node in enumerate(graph.nodes):
        if position not in part.used:
            continue
        spans = [graph.ranges[i] for i in node.operands]
        operands = [f"v{i}" for i in node.operands]
        span = graph.ranges[position]
        if part.code(position) is not None:
            text = real(part.code(position), span.fraction)
        elif part.origin(position) is not None and not isinstance(node, g.Scale):
            text = f"v{part.origin(position)}"
        elif isinstance(node, g.Input):
            text = f"in->{node.name}"
        elif isinstance(node, g.Table):
            table = tables.setdefault((node.fraction, node.codes), f"kg_table_{len(tables)}")
            text = f"{table}[kg_whole({operands[0]}, 0, {len(node.codes) - 1})]"
        else:
            text = expression(node, span, position in whole, spans, *operands)
        lines.append(f"const double v{position} = {text};")
    lines += [f"out->{output.name} = v{output.node};" for output in graph.outputs]
    return lines if part.reads else ["(void)in;", *lines]


def _encoded(model: Model) -> list[str]:
    """Values to codes, the integer code, codes to values."""
    name = model.name
    lines = [f"struct {name}_in codes;", f"struct {name}_out results;", "int limited = 0;"]
    for port, form in model.inputs.items():
        ends = f"{INT64.literal(form.lo)}, {INT64.literal(form.hi)}, &limited"
        if form.fraction:
            value = f"kg_encode(in->{port} * {power(form.fraction)}, {ends})"
        else:
            value = f"kg_hold(in->{port}, {ends})"
        lines.append(f"codes.{port} = {value};")
    lines.append(f"{name}({'state, ' if model.sequence else ''}&codes, &results);")
    for port, form in model.outputs.items():
        scale = f"(double)results.{port} * {power(-form.fraction)}"
        lines.append(f"out->{port} = {scale if form.fraction else f'results.{port}'};")
    return [*lines, "return limited;"]


def _public(model: Model) -> str:
    def given(port: str) -> str:
        return f"in->{port}" if model.inputs[port].fraction else f"(double)in->{port}"

    def constant(state: str, code: int) -> str:
        return real(code, model.iteration.graph.inputs[state].fraction)

    texts, lines = signatures(model), run(model, given, constant)
    lines += [f"out->{port} = {_result(model, port, f'next.{port}')};" for port in model.outputs]
    lines += ["return passes;"] if model.iteration else []
    call = f"{model.name}_double(&a, &b);"
    rows = loop(_locals(model), _rows(model, call))
    return function(texts["double"], lines) + function(texts["double_many"], rows)


def _sequence_functions(model: Model) -> str:
    registers = model.sequence.registers
    style = Style(
        kind="double_",
        cast="(double)",
        held=lambda port: f"in->{port}",
        first=lambda name: real(registers[name].initial, registers[name].format.fraction),
        result=lambda name, text: _result(model, name, text),
    )
    rows = loop(_locals(model), _rows(model, f"{model.name}_double(state, &a, &b);"))
    return functions(model, style) + function(signatures(model)["double_sequence"], rows)


def _result(model: Model, port: str, text: str) -> str:
    """A result as its port has it."""
    form = model.outputs[port]
    return text if form.fraction else f"kg_whole({text}, {form.lo}, {form.hi})"


def _locals(model: Model) -> list[str]:
    return [f"struct {model.name}_real_in a;", f"struct {model.name}_real_out b;"]


def _rows(model: Model, call: str) -> list[str]:
    """What is done for a row of columns of doubles."""
    lines = []
    for i, (port, form) in enumerate(model.inputs.items()):
        lines.append(f"a.{port} = {'' if form.fraction else '(int64_t)'}in[{i}][row];")
    lines.append(f"out[{len(model.outputs)}][row] = {call}" if model.iteration else call)
    for i, (port, form) in enumerate(model.outputs.items()):
        lines.append(f"out[{i}][row] = {'' if form.fraction else '(double)'}b.{port};")
    return lines
