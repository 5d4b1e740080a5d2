"""The functions of a sequence in C: a register file in a structure, and stages over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solver_ref.sequence import Stage
from solver_ref.software.c_interface import signatures
from solver_ref.software.c_layout import function
from solver_ref.software.ports import Model


@dataclass(frozen=True)
class Style:
    """What differs between integers and double.

    `kind`: nothing or `double_`; `cast`: what brings a port's value into a graph; `held`: the text
    of an input as it is kept; `first`: that of a register's code after a reset; `result`: that of a
    result, from its register's text.
    """

    kind: str
    cast: str
    held: Callable[[str], str]
    first: Callable[[str], str]
    result: Callable[[str, str], str]


def functions(model: Model, style: Style) -> str:
    """Reset, answer, prepare, both, and rows of transfers."""
    texts, kind = signatures(model), style.kind
    name = f"{model.name}_{kind}"
    first, *rest = model.sequence.stages
    kept = [f"state->kg_given.{port} = {style.held(port)};" for port in model.inputs]
    answer = [
        *kept,
        *_stage(model, first, style.cast),
        *_published(model, style),
        "*out = state->kg_last;",
    ]
    both = [f"{name}answer(state, in, out);", f"{name}prepare(state);"]
    prepare = [line for stage in rest for line in _stage(model, stage, style.cast)] or [
        "(void)state;"
    ]
    return (
        function(texts[f"{kind}reset"], _reset(model, style))
        + function(texts[f"{kind}answer"], answer)
        + function(texts[f"{kind}prepare"], prepare)
        + function(texts[kind.rstrip("_") or "run"], both)
    )


def _reset(model: Model, style: Style) -> list[str]:
    sequence = model.sequence
    lines = [f"state->{name} = {style.first(name)};" for name in sequence.registers]
    lines += [f"state->kg_given.{port} = 0;" for port in sequence.fields]
    return lines + [
        f"state->kg_last.{name} = {style.result(name, f'state->{register}')};"
        for name, register in sequence.results.items()
    ]


def _stage(model: Model, stage: Stage, cast: str) -> list[str]:
    """A block that runs a stage's graph on the registers."""
    function_name = f"{model.name}_{model.parts[stage.graph].name}"
    lines = [f"struct {function_name}_in now;", f"struct {function_name}_out next;"]
    for port, source in stage.inputs.items():
        given = source in model.sequence.fields
        place = f"{cast}state->kg_given." if given else "state->"
        lines.append(f"now.{port} = {place}{source};")
    lines.append(f"{function_name}(&now, &next);")
    lines += [f"state->{register} = next.{port};" for register, port in stage.outputs.items()]
    return [f"{{ /* {stage.name} */", *(f"    {line}" for line in lines), "}"]


def _published(model: Model, style: Style) -> list[str]:
    """The results; held ones stay what they were where the flag says so."""
    sequence = model.sequence
    set_always, set_free = [], []
    for name, register in sequence.results.items():
        line = f"state->kg_last.{name} = {style.result(name, f'state->{register}')};"
        (set_free if sequence.hold and name in sequence.held else set_always).append(line)
    if not set_free:
        return set_always
    held = [f"if (!state->{sequence.hold}) {{", *(f"    {line}" for line in set_free), "}"]
    return [*held, *set_always]
