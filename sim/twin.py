"""The software twin at work: compiles the generated C and runs it over whole columns of codes.

Answers are those of `solver_ref.interpreter` and `solver_ref.iteration`, bit for bit, at the speed
of a processor.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hdl.toolrun import ToolError, ToolMissing, run_tool
from sim.bench import cache_directory
from solver_ref.fixed import Format
from solver_ref.graph import Graph
from solver_ref.iteration import Iteration, PassLimitExceeded
from solver_ref.software import Software, software

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
    source: Graph | Iteration,
    directory: Path | None = None,
    *,
    name: str = "twin",
    feedback: Mapping[str, str] | None = None,
    flags: Sequence[str] = FLAGS,
) -> Twin:
    """The compiled C of a graph or an iteration, ready to run.

    `directory` (default: the project's cache) keeps the library under a digest of its text, the
    compiler and `flags`. `feedback` names for inputs the outputs that feed them in `sequence`.
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
    """A compiled graph or iteration. All arrays are columns of shape (n,) by port name."""

    name: str
    source: Graph | Iteration
    library: Path
    feedback: Mapping[str, str] = field(default_factory=dict)
    double: bool = True

    @property
    def iterates(self) -> bool:
        return isinstance(self.source, Iteration)

    @property
    def inputs(self) -> dict[str, Format]:
        return self.source.fields if self.iterates else self.source.inputs

    @property
    def outputs(self) -> dict[str, Format]:
        return self.source.result_formats if self.iterates else self.source.output_formats

    def evaluate(self, inputs: Mapping[str, np.ndarray]) -> Codes:
        """Output codes, as `solver_ref.interpreter.evaluate` and `evaluate_iteration` give them.

        ValueError for a missing input or a code outside its format, `PassLimitExceeded` for a row
        that is not done in time. Codes wider than 64 bits are Python integers.
        """
        return self.evaluate_with_passes(inputs)[0]

    def evaluate_with_passes(self, inputs: Mapping[str, np.ndarray]) -> tuple[Codes, np.ndarray]:
        """Output codes, and the passes of each row (1 for a graph)."""
        given = _columns(self.inputs, inputs)
        return self._run("many", given)

    def sequence(
        self, inputs: Mapping[str, np.ndarray], first: Mapping[str, int]
    ) -> tuple[Codes, dict[str, int]]:
        """Row after row: an input in `feedback` is what its output was in the row before.

        `first` has the codes of those inputs in the first row, `inputs` the columns of the others.
        Returns the output codes, and what the inputs in `feedback` would be in the next row, so
        that a long sequence can be run in parts. ValueError, `PassLimitExceeded`: see `evaluate`.
        """
        if not self.feedback:
            raise ValueError(f"{self.name} was compiled without feedback")
        others = {port: form for port, form in self.inputs.items() if port not in self.feedback}
        if not others:
            raise ValueError(f"a sequence of {self.name} needs an input that is not fed back")
        starts = {port: self.inputs[port] for port in self.feedback}
        state = np.concatenate(_columns(starts, {port: [code] for port, code in first.items()}))
        outputs, _ = self._run("sequence", _columns(others, inputs), state)
        return outputs, {port: int(code) for port, code in zip(starts, state, strict=True)}

    def evaluate_double(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Output values of the same graph in double, from values that are not rounded."""
        if not self.double:
            raise ValueError(f"{self.name} has no form in double")
        given = [np.ascontiguousarray(values[port], dtype=np.float64) for port in self.inputs]
        found = [np.empty(len(given[0])) for _ in range(len(self.outputs) + self.iterates)]
        self.call("double_many", given, found)
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
            words.insert(1, ctypes.c_void_p(state.ctypes.data))
        run = getattr(ctypes.CDLL(str(self.library)), f"{self.name}_{function}")
        run.restype = None
        run(*words)

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
        codes = np.atleast_1d(np.asarray(inputs[name]))
        if codes.dtype.kind not in "iuO":
            raise ValueError(f"input {name!r} must be integer codes, not {codes.dtype}")
        if codes.size and (codes.min() < form.lo or codes.max() > form.hi):
            raise ValueError(f"input {name!r} has codes outside {form}")
        found.append(codes.astype(np.int64))
    rows = np.broadcast_shapes(*(column.shape for column in found))
    return [np.ascontiguousarray(np.broadcast_to(column, rows)) for column in found]


def _fits(form: Format) -> bool:
    return -(1 << (_PORT - 1)) <= form.lo and form.hi < 1 << (_PORT - 1)


def _pointers(columns: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


def _joined(words: list[np.ndarray]) -> np.ndarray:
    """One column of codes from the words of 64 bits that a port takes, the lowest first."""
    if len(words) == 1:
        return words[0]
    low, high = words
    return high.astype(object) * (1 << _PORT) + low.view(np.uint64).astype(object)
