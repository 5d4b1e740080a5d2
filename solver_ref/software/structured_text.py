"""The graph as a function block in IEC 61131-3 Structured Text: `NAME.st`."""

from __future__ import annotations

import textwrap

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_nodes import Tables
from solver_ref.software.ports import Model
from solver_ref.software.structured_text_nodes import POWERS, fit, lint, statements

_NOTE = "A code of SQ(i, f) or UQ(i, f) is an integer worth 2^-f each. Needs 64-bit LINT."
PASSES, DONE = "kg_passes", "kg_done"


def source(model: Model) -> str:
    """`NAME.st`. ValueError, with the reason, where LINT is too short or a name is none."""
    if "__" in model.name or model.name.endswith("_"):
        raise ValueError(f"{model.name!r} is no name in Structured Text: it has idle underscores")
    tables = Tables()
    body = _body(model, tables)
    lines = [f"FUNCTION_BLOCK {model.name}", "VAR_INPUT"]
    lines += _ports("i_", model.inputs) + ["END_VAR", "VAR_OUTPUT"] + _ports("o_", model.outputs)
    lines += [f"    o_passes : LINT; {_remark('0: not done')}"] if model.iteration else []
    lines += ["END_VAR", *_constants(tables, body), "VAR_TEMP", *_variables(model, body)]
    lines += ["END_VAR", "", *body, "END_FUNCTION_BLOCK"]
    top = "\n".join(model.describe(_NOTE)).replace("*)", "* )")
    return f"(*\n{textwrap.indent(top, '  ')}\n*)\n" + "\n".join(lines) + "\n"


def _remark(text: str) -> str:
    return f"(* {text} *)"


def _ports(prefix: str, formats: dict[str, Format]) -> list[str]:
    return [f"    {prefix}{port} : LINT; {_remark(str(form))}" for port, form in formats.items()]


def _constants(tables: Tables, body: list[str]) -> list[str]:
    """The read-only memories, and powers of two where shifts need them."""
    arrays = dict(tables.items())
    if any(f"{POWERS}[" in line for line in body):
        arrays[POWERS] = tuple(1 << bits for bits in range(63))
    lines = []
    for name, codes in arrays.items():
        items = ", ".join(lint(code).strip("()") for code in codes)
        rows = textwrap.wrap(items, 92)
        lines += [f"    {name} : ARRAY[0..{len(codes) - 1}] OF LINT := ["]
        lines += [f"        {row}" for row in rows] + ["    ];"]
    return ["VAR CONSTANT", *lines, "END_VAR"] if lines else []


def _variables(model: Model, body: list[str]) -> list[str]:
    set_names = dict.fromkeys(line.split()[0] for line in body if ":=" in line)
    return [f"    {name} : LINT;" for name in set_names if not name.startswith("o_")]


def _body(model: Model, tables: Tables) -> list[str]:
    """Limits the inputs, runs the graph (once, or until it is done), sets the outputs."""
    held = {
        port: f"LIMIT({lint(form.lo)}, i_{port}, {lint(form.hi)})"
        for port, form in model.inputs.items()
    }
    iteration = model.iteration
    lines, values = _nodes(model, tables)
    results = {output.name: values[output.node] for output in model.graph.outputs}
    if iteration is None:
        head = [f"s_{port} := {text};" for port, text in held.items()]
        return [*head, *lines, *(f"o_{port} := {results[port]};" for port in model.outputs)]
    head = []
    for state in iteration.state:
        first = iteration.initial[state]
        head.append(f"s_{state} := {held[first] if isinstance(first, str) else lint(first)};")
    head += [f"s_{port} := {held[port]};" for port in iteration.inputs]
    repeated = [
        f"{PASSES} := {PASSES} + {lint(1)};",
        *lines,
        f"{DONE} := {results[iteration.done]};",
    ]
    repeated += [f"o_{port} := {results[port]};" for port in iteration.results]
    repeated += [f"s_{state} := {results[f'next_{state}']};" for state in iteration.state]
    limit = lint(iteration.max_passes)
    return [
        *head,
        f"{PASSES} := {lint(0)};",
        "REPEAT",
        *(f"    {line}" for line in repeated),
        f"UNTIL ({DONE} <> {lint(0)}) OR ({PASSES} >= {limit})",
        "END_REPEAT;",
        f"o_passes := {PASSES} * {DONE};",
    ]


def _nodes(model: Model, tables: Tables) -> tuple[list[str], dict[int, str]]:
    """The statements of every node that is used, and the text of each node's value."""
    graph, used = model.graph, model.used
    lines: list[str] = []
    values: dict[int, str] = {}
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        if position not in used:
            continue
        operands = [values[i] for i in node.operands if i in values]
        name = f"v{position}"
        try:
            fit(span.lo, span.hi)
            if isinstance(node, g.Input):
                name = f"s_{node.name}"
            elif model.code(position) is not None:
                name = lint(model.code(position))
            elif model.origin(position) is not None:
                name = values[model.origin(position)]
            elif isinstance(node, g.Table):
                lines.append(f"{name} := {tables.name(node.codes)}[{operands[0]}];")
            else:
                spans = [graph.ranges[i] for i in node.operands]
                lines += statements(node, name, span, spans, *operands)
        except ValueError as error:
            raise ValueError(f"node {position} ({node}): {error}") from None
        values[position] = name
    return lines, values
