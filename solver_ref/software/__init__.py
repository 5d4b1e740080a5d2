"""The software twin: the graph that becomes hardware, as C99 and as Structured Text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solver_ref.software import c_double, c_integers, c_interface, structured_text
from solver_ref.software.ports import Model, Source

__all__ = ["Software", "Source", "software"]


@dataclass(frozen=True)
class Software:
    """File texts by name, and why a form is missing, by the end of its file's name."""

    name: str
    files: Mapping[str, str]
    missing: Mapping[str, str]


def software(
    source: Source,
    name: str,
    *,
    header: str = "",
    feedback: Mapping[str, str] | None = None,
) -> Software:
    """`NAME.h` and `NAME.c` (exact integers), `NAME_double.c` and `NAME.st`.

    `header` is what each file says on top. `feedback` names for inputs the outputs that feed them
    in `NAME_sequence`. The same arguments give the same texts, byte for byte.

    Raises ValueError where even the integer code cannot be: a value of more than 128 bits, a port
    whose name C does not allow. The double and Structured Text forms may be `missing`, with reason.
    """
    model = Model(name, source, header, feedback or {})
    files = {f"{name}.c": c_integers.source(model)}
    missing = {}
    for ending, emit in (("_double.c", c_double.source), (".st", structured_text.source)):
        try:
            files[f"{name}{ending}"] = emit(model)
        except ValueError as error:
            missing[ending] = str(error)
    header_text = c_interface.header(model, double="_double.c" not in missing)
    return Software(name, {f"{name}.h": header_text, **files}, missing)
