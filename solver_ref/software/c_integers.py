"""The graph as portable C99 with exact integers: `NAME.h` and `NAME.c`."""

from __future__ import annotations

from collections.abc import Mapping

from solver_ref import graph as g
from solver_ref.fixed import Format
from solver_ref.software.c_layout import (
    comment,
    function,
    listed,
    port_members,
    port_word,
    real_members,
    remark,
    run,
    structure,
)
from solver_ref.software.c_nodes import Operand, Tables, statements, table_word
from solver_ref.software.helpers import helpers_for, wide_type
from solver_ref.software.ports import Model
from solver_ref.software.words import INT64, WIDE, Word, word_of

_HEADER_NOTE = "A code of SQ(i, f) or UQ(i, f) is an integer worth 2^-f each."
_SOURCE_NOTE = "C99, exact integers; no floating point, no memory but the stack."


def result_type(model: Model) -> str:
    """What the functions return: for an iteration, its passes."""
    return "int" if model.iteration else "void"


def header(model: Model, *, double: bool) -> str:
    """`NAME.h`; `double` where there is a `NAME_double.c`."""
    guard, ports = f"{model.macro}_H", _ports_text(model, double)
    return (
        f"{comment(model.describe(_HEADER_NOTE))}"
        f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n"
        f"{wide_type(ports)}\n{_constants(model)}{ports}"
        f'\n#ifdef __cplusplus\nextern "C" {{\n#endif\n{_prototypes(model, double)}'
        "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    )


def _ports_text(model: Model, double: bool) -> str:
    name = model.name
    text = structure(f"{name}_in", port_members(model.inputs))
    text += structure(f"{name}_out", port_members(model.outputs))
    if double:
        text += structure(f"{name}_real_in", real_members(model.inputs))
        text += structure(f"{name}_real_out", real_members(model.outputs))
    return text


def _constants(model: Model) -> str:
    lines = [f'{model.macro}_GRAPH "{model.graph.digest}"']
    for way, formats in (("IN", model.inputs), ("OUT", model.outputs)):
        lines += [
            f"{model.macro}_{way}_{port.upper()}_FRACTION {form.fraction}"
            for port, form in formats.items()
        ]
    if model.iteration:
        lines.append(f"{model.macro}_MAX_PASSES {model.iteration.max_passes}")
    return "".join(f"#define {line}\n" for line in lines)


def signatures(model: Model) -> dict[str, str]:
    """The public functions, by a short word."""
    name = model.name
    ports = "const struct {0}_in *in, struct {0}_out *out"
    columns = "const int64_t *const *in, int64_t *const *out"
    reals = "const double *const *in, double *const *out"
    found = {
        "fits": f"int {name}_fits(const struct {name}_in *in)",
        "run": f"{result_type(model)} {name}({ports.format(name)})",
        "many": f"void {name}_many(size_t rows, {columns})",
    }
    if model.feedback:
        found["sequence"] = f"void {name}_sequence(size_t rows, int64_t *state, {columns})"
    found["real"] = f"int {name}_real({ports.format(f'{name}_real')})"
    found["double"] = f"{result_type(model)} {name}_double({ports.format(f'{name}_real')})"
    found["double_many"] = f"void {name}_double_many(size_t rows, {reals})"
    return found


IN_DOUBLE = ("real", "double", "double_many")
"""The functions of `NAME_double.c`."""


def _prototypes(model: Model, double: bool) -> str:
    passes = " Returns the passes that it took, 0 if MAX_PASSES were not enough."
    passes = passes if model.iteration else ""
    last = ", then the passes" if model.iteration else ""
    state = ", ".join(model.feedback)
    notes = {
        "fits": "1 where every code is one that its port can carry.",
        "run": f"Exact. A code beyond its port counts as the port's first or last.{passes}",
        "many": f"The same for rows of columns, one column for each port in order{last}.",
        "sequence": f"Row after row: `state` ({state}) is taken from the row before, the first one "
        f"and the last one from and to the caller; the other inputs are columns{last}.",
        "real": "The same from values, rounded to the nearest code. Returns how many had to be "
        "limited: then do not use the results.",
        "double": f"The same graph in double, without rounding (in {model.name}_double.c)."
        + passes,
        "double_many": "The same for rows of columns.",
    }
    words = [item for item in signatures(model).items() if double or item[0] not in IN_DOUBLE]
    return "".join(f"\n{remark(notes[word])}{text};\n" for word, text in words)


def source(model: Model) -> str:
    """`NAME.c`. ValueError names a node that needs more than 128 bits."""
    tables = Tables()
    body = _pass_body(model, tables)
    name, formats = model.name, model.graph.inputs
    text = structure(f"{name}_pass_in", port_members(formats))
    text += structure(f"{name}_pass_out", port_members(model.graph.output_formats))
    text += "".join(_table(*table) for table in tables.items())
    signature = (
        f"static void {name}_pass(const struct {name}_pass_in *in, struct {name}_pass_out *out)"
    )
    text += function(signature, body) + _public(model)
    return (
        f'{comment(model.describe(_SOURCE_NOTE))}#include "{name}.h"\n'
        f"{wide_type(text)}{helpers_for(text)}{text}"
    )


def _table(name: str, codes: tuple[int, ...]) -> str:
    word = table_word(codes)
    items = listed(word.initialiser(code) for code in codes)
    return f"\nstatic const {word.type} {name}[{len(codes)}] = {{\n{items}\n}};\n"


def _pass_body(model: Model, tables: Tables) -> list[str]:
    """Every node that is used, in order, then the outputs."""
    graph, lines, values, used = model.graph, [], {}, model.used
    for position, (node, span) in enumerate(zip(graph.nodes, graph.ranges, strict=True)):
        if position not in used:
            continue
        try:
            word = word_of(span)
            operands = [values[i] for i in node.operands if i in values]
            name = f"v{position}"
            if model.code(position) is not None:
                name = word.literal(model.code(position))
            elif model.origin(position) is not None:
                name = values[model.origin(position)].text
            elif isinstance(node, g.Input):
                text = word.convert(f"in->{node.name}", INT64)
                lines.append(f"const {word.type} {name} = {text};")
            else:
                lines += statements(node, name, span, operands, tables)
        except ValueError as error:
            raise ValueError(f"node {position} ({node}): {error}") from None
        values[position] = Operand(name, word, span)
    for output in graph.outputs:
        word = port_word(graph.output_formats[output.name])
        lines.append(f"out->{output.name} = {values[output.node].within(word)};")
    return lines if model.input_nodes() else ["(void)in;", *lines]


def _public(model: Model) -> str:
    texts = signatures(model)
    given = [
        f"in->{port} >= {_ends(form)[0]} && in->{port} <= {_ends(form)[1]}"
        for port, form in model.inputs.items()
    ]
    text = function(texts["fits"], [f"return {_all(given)};"])
    lines = run(model, lambda port: _held(port, model.inputs[port]), lambda _, code: _code(code))
    lines += [f"out->{port} = next.{port};" for port in model.outputs]
    lines += ["return passes;"] if model.iteration else []
    text += function(texts["run"], lines) + function(texts["many"], _many(model))
    return text + (function(texts["sequence"], _sequence(model)) if model.feedback else "")


def _all(terms: list[str]) -> str:
    return "\n        && ".join(terms) or "1"


def _ends(form: Format) -> tuple[str, str]:
    return INT64.literal(form.lo), INT64.literal(form.hi)


def _held(port: str, form: Format) -> str:
    return f"kg_limit64(in->{port}, {', '.join(_ends(form))})"


def _code(code: int) -> str:
    return INT64.literal(code)


def _many(model: Model) -> list[str]:
    read = {port: f"in[{i}][row]" for i, port in enumerate(model.inputs)}
    return [*_locals(model), *_loop(model, read, [])]


def _sequence(model: Model) -> list[str]:
    others = [port for port in model.inputs if port not in model.feedback]
    read = {port: f"in[{i}][row]" for i, port in enumerate(others)}
    first, kept = [], []
    for i, (port, source) in enumerate(model.feedback.items()):
        first.append(f"a.{port} = state[{i}];")
        kept.append(f"a.{port} = b.{source};")
    last = [f"state[{i}] = a.{port};" for i, port in enumerate(model.feedback)]
    return [*_locals(model), *first, *_loop(model, read, kept), *last]


def _locals(model: Model) -> list[str]:
    return [f"struct {model.name}_in a;", f"struct {model.name}_out b;", "size_t row;"]


def _loop(model: Model, read: Mapping[str, str], after: list[str]) -> list[str]:
    """The loop over rows: reads, runs, writes."""
    call, written = f"{model.name}(&a, &b);", []
    for port, form in model.outputs.items():
        written += _words(f"b.{port}", port_word(form))
    lines = [f"a.{port} = {text};" for port, text in read.items()]
    lines += [f"out[{len(written)}][row] = {call}" if model.iteration else call]
    lines += [f"out[{i}][row] = {text};" for i, text in enumerate(written)]
    return ["for (row = 0; row < rows; row++) {", *(f"    {x}" for x in [*lines, *after]), "}"]


def _words(text: str, word: Word) -> list[str]:
    """A value as columns of 64 bits, the lowest first."""
    if word != WIDE:
        return [text]
    return [f"kg_signed({text}.low)", f"kg_signed({text}.high)"]
