"""`NAME_double.c`: values in and out of the integer code, and the same graph in plain double."""

from __future__ import annotations

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_double_nodes import expression, real, whole_nodes
from solver_ref.software.c_integers import signatures
from solver_ref.software.c_layout import (
    Member,
    comment,
    function,
    listed,
    port_word,
    power,
    run,
    structure,
)
from solver_ref.software.helpers import helpers_for
from solver_ref.software.ports import Model
from solver_ref.software.words import INT64

_Tables = dict[tuple[int, tuple[int, ...]], str]
"""The arrays' names by the fraction and codes of what they hold."""

_NOTE = "Doubles: the integer code from values, and the same graph without rounding."


def source(model: Model) -> str:
    """`NAME_double.c`. ValueError for a graph that has no meaning in double: one that `split` cut
    into pieces."""
    name = model.name
    for port, form in model.outputs.items():
        if port_word(form) != INT64:
            raise ValueError(f"output {port!r} is {form}, wider than 64 bits")
    tables: _Tables = {}
    body = _pass_body(model, tables)
    text = structure(f"{name}_pass_in", _doubles(model.graph.inputs))
    text += structure(f"{name}_pass_out", _doubles(model.graph.output_formats))
    for (fraction, codes), table in tables.items():
        items = listed(real(code, fraction)[1:-1] for code in codes)
        text += f"\nstatic const double {table}[{len(codes)}] = {{\n{items}\n}};\n"
    signature = (
        f"static void {name}_pass(const struct {name}_pass_in *in, struct {name}_pass_out *out)"
    )
    texts = signatures(model)
    text += function(signature, body) + function(texts["real"], _encoded(model))
    text += function(texts["double"], _run(model)) + function(texts["double_many"], _many(model))
    return f'{comment(model.describe(_NOTE))}#include "{name}.h"\n{helpers_for(text)}{text}'


def _doubles(formats: dict[str, Format]) -> list[Member]:
    return [("double", name, "") for name in formats]


def _pass_body(model: Model, tables: _Tables) -> list[str]:
    graph, used, lines = model.graph, model.used, []
    whole = whole_nodes(graph.nodes)
    for position, node in enumerate(graph.nodes):
        if position not in used:
            continue
        spans = [graph.ranges[i] for i in node.operands]
        operands = [f"v{i}" for i in node.operands]
        span = graph.ranges[position]
        if model.code(position) is not None:
            text = real(model.code(position), span.fraction)
        elif model.origin(position) is not None and not isinstance(node, g.Scale):
            text = f"v{model.origin(position)}"
        elif isinstance(node, g.Input):
            text = f"in->{node.name}"
        elif isinstance(node, g.Table):
            table = tables.setdefault((node.fraction, node.codes), f"kg_table_{len(tables)}")
            text = f"{table}[kg_whole({operands[0]}, 0, {len(node.codes) - 1})]"
        else:
            text = expression(node, span, position in whole, spans, *operands)
        lines.append(f"const double v{position} = {text};")
    lines += [f"out->{output.name} = v{output.node};" for output in graph.outputs]
    return lines if model.input_nodes() else ["(void)in;", *lines]


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
    lines.append(f"{name}(&codes, &results);")
    for port, form in model.outputs.items():
        scale = f"(double)results.{port} * {power(-form.fraction)}"
        lines.append(f"out->{port} = {scale if form.fraction else f'results.{port}'};")
    return [*lines, "return limited;"]


def _run(model: Model) -> list[str]:
    def given(port: str) -> str:
        return f"in->{port}" if model.inputs[port].fraction else f"(double)in->{port}"

    def constant(state: str, code: int) -> str:
        return real(code, model.graph.inputs[state].fraction)

    lines = run(model, given, constant)
    for port, form in model.outputs.items():
        value = f"next.{port}" if form.fraction else f"kg_whole(next.{port}, {form.lo}, {form.hi})"
        lines.append(f"out->{port} = {value};")
    return [*lines, "return passes;"] if model.iteration else lines


def _many(model: Model) -> list[str]:
    name, lines = model.name, []
    for i, (port, form) in enumerate(model.inputs.items()):
        cast = "" if form.fraction else "(int64_t)"
        lines.append(f"a.{port} = {cast}in[{i}][row];")
    call = f"{name}_double(&a, &b);"
    lines.append(f"out[{len(model.outputs)}][row] = {call}" if model.iteration else call)
    for i, (port, form) in enumerate(model.outputs.items()):
        lines.append(f"out[{i}][row] = {'' if form.fraction else '(double)'}b.{port};")
    head = [f"struct {name}_real_in a;", f"struct {name}_real_out b;", "size_t row;"]
    return [*head, "for (row = 0; row < rows; row++) {", *(f"    {line}" for line in lines), "}"]
