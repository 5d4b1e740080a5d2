"""The software twin at work: compiles the generated C and runs it over whole columns of codes.

Answers are those of `solver_ref.interpreter`, `iteration` and `sequence`, bit for bit, at the speed
of a processor.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hdl.toolrun import ToolError, ToolMissing, run_tool
from sim.bench import cache_directory
from solver_ref.fixed import Format, checked_codes
from solver_ref.graph import Graph
from solver_ref.iteration import Iteration, PassLimitExceeded
from solver_ref.sequence import Sequence as Program
from solver_ref.software import Software, Source, software

FLAGS = ("-std=c99", "-O2")
_LIBRARY = "twin.so"
_COMPILERS = (("cc",), ("gcc",), ("clang",), ("g++", "-x", "c"))
_PORT = 64  # bits of a column

Codes = dict[str, np.ndarray]


def compiler() -> list[str]:
    """The words that call a C compiler: `$CC`, or the first of cc, gcc, clang and g++ there is.

    Raises `ToolMissing` without any.
    """
    asked = os.environ.get("CC", "").split()
    for words in [tuple(asked)] if asked else _COMPILERS:
        if shutil.which(words[0]):
            return list(words)
    names = asked[:1] or [words[0] for words in _COMPILERS]
    raise ToolMissing(f"none of {', '.join(names)} is installed: apt install gcc")


def compile_twin(
    source: Source,
    directory: Path | None = None,
    *,
    name: str = "twin",
    feedback: Mapping[str, str] | None = None,
    flags: Sequence[str] = FLAGS,
) -> Twin:
    """The compiled C of a graph, an iteration or a sequence, ready to run.

    `directory` (default: the project's cache) keeps the library under a digest of its text, the
    compiler and `flags`. `feedback` names for inputs the outputs that feed them in `advance`.
    Raises what `software` does, `ToolMissing` without a compiler, `ToolError` where it fails.
    """
    made = software(source, name, feedback=feedback)
    library = build(made, directory or cache_directory() / "twin", flags)
    return Twin(name, source, library, dict(feedback or {}), "_double.c" not in made.missing)


def build(made: Software, directory: Path, flags: Sequence[str] = FLAGS) -> Path:
    """The shared library of generated C, built now or found from an earlier build."""
    command = [*compiler(), *flags, "-shared", "-fPIC"]
    texts = {name: text for name, text in made.files.items() if not name.endswith(".st")}
    digest = hashlib.sha256(repr([command, sorted(texts.items())]).encode()).hexdigest()
    kept = directory / f"{made.name}-{digest[:16]}" / _LIBRARY
    if kept.exists():
        return kept
    directory.mkdir(parents=True, exist_ok=True)
    # Built aside and renamed, so that an interrupted or concurrent build leaves nothing half.
    with tempfile.TemporaryDirectory(dir=directory, prefix="building-") as scratch:
        folder = Path(scratch)
        for name, text in texts.items():
            (folder / name).write_text(text)
        sources = sorted(name for name in texts if name.endswith(".c"))
        log = folder / "build.log"
        try:
            run_tool([*command, *sources, "-o", _LIBRARY], log=log, name=command[0], cwd=folder)
        except ToolError as error:
            log = Path(shutil.copy(error.log, directory / "build.log"))
            raise ToolError(f"compiling {made.name} with {command[0]}", "failed", log) from error
        kept.parent.mkdir(exist_ok=True)
        os.replace(folder / _LIBRARY, kept)
    return kept


@dataclass(frozen=True)
class Twin:
    """Compiled software. All arrays are columns of shape (n,) by port name."""

    name: str
    source: Source
    library: Path
    feedback: Mapping[str, str] = field(default_factory=dict)
    double: bool = True

    @property
    def iterates(self) -> bool:
        return isinstance(self.source, Iteration)

    @property
    def remembers(self) -> bool:
        """Whether each row follows from those before."""
        return isinstance(self.source, Program)

    @property
    def inputs(self) -> dict[str, Format]:
        graph = isinstance(self.source, Graph)
        return self.source.inputs if graph else dict(self.source.fields)

    @property
    def outputs(self) -> dict[str, Format]:
        graph = isinstance(self.source, Graph)
        return self.source.output_formats if graph else self.source.result_formats

    def evaluate(self, inputs: Mapping[str, np.ndarray]) -> Codes:
        """Output codes, as `solver_ref.interpreter.evaluate`, `evaluate_iteration` and (after a
        reset) `evaluate_sequence` give them.

        ValueError for a missing input or a code outside its format, `PassLimitExceeded` for a row
        that is not done in time. Codes wider than 64 bits are Python integers.
        """
        return self.evaluate_with_passes(inputs)[0]

    def evaluate_with_passes(self, inputs: Mapping[str, np.ndarray]) -> tuple[Codes, np.ndarray]:
        """Output codes, and the passes of each row (1 but for an iteration)."""
        given = _columns(self.inputs, inputs)
        if self.remembers:
            return self._run("sequence", given, self.start())
        return self._run("many", given)

    def start(self, first: Mapping[str, int] | None = None) -> np.ndarray:
        """The state in front of the first row, for `advance`: that of a sequence after a reset, or
        the codes `first` of the inputs in `feedback`.
        """
        if self.remembers:
            places = (self.source.registers, self.source.fields, self.source.results)
            state = np.zeros(sum(map(len, places)), np.int64)
            self._function("reset")(_pointer(state))
            return state
        if not self.feedback:
            raise ValueError(f"{self.name} was compiled without feedback")
        formats = {port: self.inputs[port] for port in self.feedback}
        codes = {port: [code] for port, code in (first or {}).items()}
        return np.concatenate(_columns(formats, codes))

    def advance(self, state: np.ndarray, inputs: Mapping[str, np.ndarray]) -> Codes:
        """Row after row from a state, which moves on to behind the last row.

        `inputs` are the columns of all inputs but those in `feedback`: each of them is what its
        output was in the row before. ValueError and `PassLimitExceeded` as in `evaluate`.
        """
        others = {port: form for port, form in self.inputs.items() if port not in self.feedback}
        if not others:
            raise ValueError(f"rows of {self.name} need an input that is not fed back")
        return self._run("sequence", _columns(others, inputs), state)[0]

    def evaluate_double(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Output values of the same graph in double, from values that are not rounded."""
        if not self.double:
            raise ValueError(f"{self.name} has no form in double")
        given = [np.ascontiguousarray(values[port], dtype=np.float64) for port in self.inputs]
        found = [np.empty(len(given[0])) for _ in range(len(self.outputs) + self.iterates)]
        state = self.start().astype(np.float64) if self.remembers else None
        if self.remembers:
            self._function("double_reset")(_pointer(state))
        self.call("double_sequence" if self.remembers else "double_many", given, found, state)
        return dict(zip(self.outputs, found, strict=False))

    def call(
        self,
        function: str,
        given: Sequence[np.ndarray],
        found: Sequence[np.ndarray],
        state: np.ndarray | None = None,
    ) -> None:
        """The C function `<name>_<function>` itself, on columns in the order and of the types that
        its header tells. `found` and `state` are written. Nothing is checked.
        """
        words = [ctypes.c_size_t(len(found[0])), _pointers(given), _pointers(found)]
        if state is not None:
            words.insert(1, _pointer(state))
        self._function(function)(*words)

    def _function(self, word: str) -> Callable[..., None]:
        found = getattr(ctypes.CDLL(str(self.library)), f"{self.name}_{word}")
        found.restype = None
        return found

    def columns(self, rows: int) -> list[np.ndarray]:
        """Room for what `call` writes: each output in its words, the passes of an iteration."""
        return [np.empty(rows, np.int64) for _ in range(sum(self._words) + self.iterates)]

    @property
    def _words(self) -> list[int]:
        return [1 if _fits(form) else 2 for form in self.outputs.values()]

    def _run(
        self, function: str, given: list[np.ndarray], state: np.ndarray | None = None
    ) -> tuple[Codes, np.ndarray]:
        rows = len(given[0])
        found = self.columns(rows)
        self.call(function, given, found, state)
        passes = found.pop() if self.iterates else np.ones(rows, np.int64)
        if not passes.all():
            row = int(np.argmin(passes != 0))
            raise PassLimitExceeded(f"{self.name} is not done in row {row}")
        columns = iter(found)
        outputs = {
            name: _joined([next(columns) for _ in range(count)])
            for name, count in zip(self.outputs, self._words, strict=True)
        }
        return outputs, passes


def _columns(formats: Mapping[str, Format], inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Codes of all inputs, each in a column of its own of the same length, checked."""
    found = []
    for name, form in formats.items():
        if name not in inputs:
            raise ValueError(f"the twin needs an input {name!r}")
        found.append(checked_codes(f"input {name!r}", inputs[name], form))
    rows = np.broadcast_shapes(*(column.shape for column in found))
    return [np.ascontiguousarray(np.broadcast_to(column, rows)) for column in found]


def _fits(form: Format) -> bool:
    return -(1 << (_PORT - 1)) <= form.lo and form.hi < 1 << (_PORT - 1)


def _pointer(column: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(column.ctypes.data)


def _pointers(columns: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


def _joined(words: list[np.ndarray]) -> np.ndarray:
    """One column of codes from the words of 64 bits that a port takes, the lowest first."""
    if len(words) == 1:
        return words[0]
    low, high = words
    return high.astype(object) * (1 << _PORT) + low.view(np.uint64).astype(object)
