"""`NAME.h`: the structures of the ports, their constants, and every function with its note."""

from __future__ import annotations

from solver_ref.software.c_layout import (
    Member,
    comment,
    port_members,
    real_members,
    remark,
    structure,
)
from solver_ref.software.helpers import wide_type
from solver_ref.software.ports import Model

_NOTE = "A code of SQ(i, f) or UQ(i, f) is an integer worth 2^-f each."
IN_DOUBLE = ("real", "double")
"""How the names of the functions of `NAME_double.c` begin."""


def header(model: Model, *, double: bool) -> str:
    """`NAME.h`; `double` where there is a `NAME_double.c`."""
    guard, ports = f"{model.macro}_H", _structures(model, double)
    return (
        f"{comment(model.describe(_NOTE))}"
        f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n"
        f"{wide_type(ports)}\n{_constants(model)}{ports}"
        f'\n#ifdef __cplusplus\nextern "C" {{\n#endif\n{_prototypes(model, double)}'
        "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    )


def _structures(model: Model, double: bool) -> str:
    name = model.name
    text = structure(f"{name}_in", port_members(model.inputs))
    text += structure(f"{name}_out", port_members(model.outputs))
    text += _state(model, "", "int64_t") if model.sequence else ""
    if double:
        text += structure(f"{name}_real_in", real_members(model.inputs))
        text += structure(f"{name}_real_out", real_members(model.outputs))
        text += _state(model, "_double", "double") if model.sequence else ""
    return text


def _state(model: Model, kind: str, word: str) -> str:
    """What a sequence remembers: registers, the transfer at hand, the results given out last."""
    ports = f"struct {model.name}{'_real' if kind else ''}"
    members: list[Member] = [
        (word, name, str(register.format)) for name, register in model.sequence.registers.items()
    ]
    members += [(f"{ports}_in", "kg_given", ""), (f"{ports}_out", "kg_last", "")]
    return structure(f"{model.name}{kind}_state", members)


def _constants(model: Model) -> str:
    lines = [f'{model.macro}_GRAPH "{model.digest}"']
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
    name, result = model.name, "int" if model.iteration else "void"
    ports, reals = (f"const struct {x}_in *in, struct {x}_out *out" for x in (name, f"{name}_real"))
    columns, double_columns = (
        f"const {word} *const *in, {word} *const *out" for word in ("int64_t", "double")
    )
    found = {"fits": f"int {name}_fits(const struct {name}_in *in)"}
    if model.sequence:
        state, double_state = f"struct {name}_state *state", f"struct {name}_double_state *state"
        found |= _remembering(name, "", state, ports, columns)
        found["real"] = f"int {name}_real({state}, {reals})"
        return found | _remembering(name, "double_", double_state, reals, double_columns)
    found["run"] = f"{result} {name}({ports})"
    found["many"] = f"void {name}_many(size_t rows, {columns})"
    if model.feedback:
        found["sequence"] = f"void {name}_sequence(size_t rows, int64_t *state, {columns})"
    found["real"] = f"int {name}_real({reals})"
    found["double"] = f"{result} {name}_double({reals})"
    found["double_many"] = f"void {name}_double_many(size_t rows, {double_columns})"
    return found


def _remembering(name: str, kind: str, state: str, ports: str, columns: str) -> dict[str, str]:
    """The functions of a sequence; `kind` is nothing or `double_`."""
    run = f"{name}_{kind}".rstrip("_")
    return {
        f"{kind}reset": f"void {name}_{kind}reset({state})",
        f"{kind}answer": f"void {name}_{kind}answer({state}, {ports})",
        f"{kind}prepare": f"void {name}_{kind}prepare({state})",
        kind.rstrip("_") or "run": f"void {run}({state}, {ports})",
        f"{kind}sequence": f"void {name}_{kind}sequence(size_t rows, {state}, {columns})",
    }


def _prototypes(model: Model, double: bool) -> str:
    notes = _notes(model)
    return "".join(
        f"\n{remark(notes[word])}{text};\n"
        for word, text in signatures(model).items()
        if double or not word.startswith(IN_DOUBLE)
    )


def _notes(model: Model) -> dict[str, str]:
    passes = "" if not model.iteration else _PASSES
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
        "double": f"The same graph in double, without rounding (in {model.name}_double.c).{passes}",
        "double_many": "The same for rows of columns.",
    }
    if not model.sequence:
        return notes
    own = {
        "reset": "The state before the first transfer.",
        "answer": "Exact. The results of a transfer; a code beyond its port counts as the port's "
        "first or last.",
        "prepare": "The rest of it, on which only the next transfer waits: call it in between.",
        "run": "Both at once.",
        "sequence": "Transfers in order, one column for each port in order.",
    }
    notes |= own | {f"double_{word}": "The same in double, without rounding." for word in own}
    return notes


_PASSES = " Returns the passes that it took, 0 if MAX_PASSES were not enough."
