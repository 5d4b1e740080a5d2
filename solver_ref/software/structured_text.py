"""The graph as a function block in IEC 61131-3 Structured Text: `NAME.st`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_nodes import Tables
from solver_ref.software.part import Part
from solver_ref.software.ports import Model
from solver_ref.software.structured_text_nodes import POWERS, fit, lint, statements

_NOTE = "A code of SQ(i, f) or UQ(i, f) is an integer worth 2^-f each. Needs 64-bit LINT."
PASSES, DONE = "kg_passes", "kg_done"


def source(model: Model) -> str:
    """`NAME.st`. ValueError, with the reason, where LINT is too short or a name is none."""
    if "__" in model.name or model.name.endswith("_"):
        raise ValueError(f"{model.name!r} is no name in Structured Text: it has idle underscores")
    tables = Tables()
    body = _held(model)
    body += _sequence(model, tables) if model.sequence else _graph(model, tables)
    lines = [f"FUNCTION_BLOCK {model.name}", "VAR_INPUT", *_ports("i_", model.inputs), "END_VAR"]
    lines += ["VAR_OUTPUT", *_outputs(model), "END_VAR"]
    lines += [*_constants(tables, body), *_registers(model), "VAR_TEMP", *_variables(body)]
    lines += ["END_VAR", "", *body, "END_FUNCTION_BLOCK"]
    top = "\n".join(model.describe(_NOTE)).replace("*)", "* )")
    return f"(*\n{textwrap.indent(top, '  ')}\n*)\n" + "\n".join(lines) + "\n"


def _ports(prefix: str, formats: Mapping[str, Format]) -> list[str]:
    return [f"    {prefix}{port} : LINT; (* {form} *)" for port, form in formats.items()]


def _outputs(model: Model) -> list[str]:
    if model.iteration:
        return [*_ports("o_", model.outputs), "    o_passes : LINT; (* 0: not done *)"]
    if not model.sequence:
        return _ports("o_", model.outputs)
    sequence = model.sequence
    return [
        f"    o_{port} : LINT := {_first(sequence.registers[register].initial)}; "
        f"(* {model.outputs[port]} *)"
        for port, register in sequence.results.items()
    ]


def _first(code: int) -> str:
    """A constant where it stands alone."""
    return lint(code).strip("()")


def _registers(model: Model) -> list[str]:
    """What stays from call to call."""
    if not model.sequence:
        return []
    lines = [
        f"    r_{name} : LINT := {_first(register.initial)}; (* {register.format} *)"
        for name, register in model.sequence.registers.items()
    ]
    return ["VAR", *lines, "END_VAR"]


def _constants(tables: Tables, body: list[str]) -> list[str]:
    """The read-only memories, and powers of two where shifts need them."""
    arrays = dict(tables.items())
    if any(f"{POWERS}[" in line for line in body):
        arrays[POWERS] = tuple(1 << bits for bits in range(63))
    lines = []
    for name, codes in arrays.items():
        items = ", ".join(_first(code) for code in codes)
        lines += [f"    {name} : ARRAY[0..{len(codes) - 1}] OF LINT := ["]
        lines += [f"        {row}" for row in textwrap.wrap(items, 92)] + ["    ];"]
    return ["VAR CONSTANT", *lines, "END_VAR"] if lines else []


def _variables(body: list[str]) -> list[str]:
    set_names = dict.fromkeys(line.split()[0] for line in body if ":=" in line)
    return [f"    {name} : LINT;" for name in set_names if not name.startswith(("o_", "r_"))]


def _held(model: Model) -> list[str]:
    """The inputs, limited to what their ports carry."""
    return [
        f"g_{port} := LIMIT({lint(form.lo)}, i_{port}, {lint(form.hi)});"
        for port, form in model.inputs.items()
    ]


def _graph(model: Model, tables: Tables) -> list[str]:
    """Runs the graph, once or until it is done, and sets the outputs."""
    part, iteration = model.parts["pass"], model.iteration
    lines, results = _nodes(part, tables, "")
    if iteration is None:
        head = [f"s_{port} := g_{port};" for port in model.inputs]
        return [*head, *lines, *(f"o_{port} := {results[port]};" for port in model.outputs)]
    head = [f"s_{port} := g_{port};" for port in iteration.inputs]
    for state in iteration.state:
        first = iteration.initial[state]
        head.append(f"s_{state} := {f'g_{first}' if isinstance(first, str) else lint(first)};")
    each = [f"{PASSES} := {PASSES} + {lint(1)};", *lines, f"{DONE} := {results[iteration.done]};"]
    each += [f"o_{port} := {results[port]};" for port in iteration.results]
    each += [f"n_{state} := {results[f'next_{state}']};" for state in iteration.state]
    each += [f"s_{state} := n_{state};" for state in iteration.state]
    return [
        *head,
        f"{PASSES} := {lint(0)};",
        "REPEAT",
        *(f"    {line}" for line in each),
        f"UNTIL ({DONE} <> {lint(0)}) OR ({PASSES} >= {lint(iteration.max_passes)})",
        "END_REPEAT;",
        f"o_passes := {PASSES} * {DONE};",
    ]


def _sequence(model: Model, tables: Tables) -> list[str]:
    """Runs the stages on the registers; the results stand after the first."""
    sequence, lines = model.sequence, []
    for number, stage in enumerate(sequence.stages):
        mark = f"{number}_"
        for port, origin in stage.inputs.items():
            kind = "g" if origin in sequence.fields else "r"
            lines.append(f"s{mark}{port} := {kind}_{origin};")
        nodes, results = _nodes(model.parts[stage.graph], tables, mark)
        lines += nodes
        lines += [f"r_{register} := {results[port]};" for register, port in stage.outputs.items()]
        if number == 0:
            lines += _published(model)
    return lines


def _published(model: Model) -> list[str]:
    sequence = model.sequence
    held = [name for name in sequence.results if sequence.hold and name in sequence.held]
    lines = {name: f"o_{name} := r_{register};" for name, register in sequence.results.items()}
    free = [line for name, line in lines.items() if name not in held]
    if not held:
        return free
    kept = [f"    {lines[name]}" for name in held]
    return [f"IF r_{sequence.hold} = {lint(0)} THEN", *kept, "END_IF;", *free]


def _nodes(part: Part, tables: Tables, mark: str) -> tuple[list[str], dict[str, str]]:
    """The statements of every node that is used, and the text of each output. Inputs are variables
    `s<mark><port>`, nodes `v<mark><position>`; `mark` is nothing or ends in an underscore."""
    graph, lines = part.graph, []
    values: dict[int, str] = {}
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        if position not in part.used:
            continue
        name = f"v{mark}{position}"
        try:
            fit(span.lo, span.hi)
            if isinstance(node, g.Input):
                name = f"s{mark or '_'}{node.name}"
            elif part.code(position) is not None:
                name = lint(part.code(position))
            elif part.origin(position) is not None:
                name = values[part.origin(position)]
            elif isinstance(node, g.Table):
                lines.append(f"{name} := {tables.name(node.codes)}[{values[node.a]}];")
            else:
                spans = [graph.ranges[i] for i in node.operands]
                lines += statements(node, name, span, spans, *(values[i] for i in node.operands))
        except ValueError as error:
            raise ValueError(f"node {position} ({node}): {error}") from None
        values[position] = name
    return lines, {output.name: values[output.node] for output in graph.outputs}
