"""From what a user names (robot, options, generated directory) to a design, or one error line."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypedDict

from hdl.design import Design
from hdl.folded.team import LARGEST_TEAM
from hdl.options import LARGEST_CLOCK_MHZ, LARGEST_II, SHELLS, Options
from hdl.target import target, targets
from kinegate.presets import PRESETS
from sim.package import MANIFEST, Package, read_package
from solver_ref.elongation import LAWS
from solver_ref.errors import InputError, shown
from solver_ref.kernels import KERNELS, KernelKind
from solver_ref.kernels.corrections import stretches
from solver_ref.kernels.track_formats import SAMPLE_RATES
from solver_ref.profile import PROFILES
from solver_ref.robot import CLOSURES, Robot, closure_problem
from solver_ref.robot_file import load

FINEST_ACCURACY = 1e-9

Source = str | PathLike[str] | Robot


class OptionError(InputError):
    """An option that cannot be used; `key` is its name, without dashes."""


class GenerationOptions(TypedDict, total=False):
    """The options of every function that makes hardware; what is left out has its default.

    `kernel`: a name of `solver_ref.kernels.KERNELS` (`step`; `forward` for `solve`); `ii`: clock
    cycles between two inputs (4; of `track`'s preparation 32); `target`: a chip (`xc7z020`);
    `accuracy` (m) and `closure`: default the robot's own; `clock` (MHz): default the family's;
    `profile`: `fine` or `18bit`; `elongation`: by which law cables stretch, `integrated` or
    `printed`; `sample_rate` (Hz): how often `track` gets lengths (10 kHz); `runtime_geometry`:
    whether anchors, attachments, radii, offsets, tension limits and stiffness can be loaded (no);
    `folded`: whether one small core runs a program instead of a pipeline (on iCE40, and of `track`
    on ECP5); `cores`: how many such cores take transfers in turn (1; of iterative kernels);
    `shell`: `stream`, or AXI with beats of 32 or 64 bits, `axi` or `axi64`; `mechanism`: the file
    of loop equations of a robot of the kind `custom`; `preset`: a name of
    `kinegate.presets.PRESETS`, whose options stand behind those that are given.
    """

    kernel: str
    ii: int
    target: str
    accuracy: float
    clock: float
    profile: str
    closure: str
    elongation: str
    sample_rate: float
    runtime_geometry: bool
    mechanism: str
    shell: str
    folded: bool
    cores: int
    preset: str


@dataclass(frozen=True)
class Opened:
    """A design, the name that its user gave it, and the directory it came from, if it did."""

    name: str
    design: Design
    package: Package | None = None


def unknown(file: str, key: str, value: object, known: Iterable[str]) -> OptionError:
    """The error for a word that is none of the known ones."""
    known = list(known)
    close = difflib.get_close_matches(str(value), known, n=1)
    hint = f", did you mean {close[0]}" if close else ""
    expected = f"one of {', '.join(known)}"
    return OptionError(file, key, wrong=f"is unknown{hint}", expected=expected, got=shown(value))


def expanded(name: str, options: GenerationOptions) -> GenerationOptions:
    """The options with those of the preset, where one is named, behind them."""
    preset = options.get("preset")
    if preset is None:
        return options
    if preset not in PRESETS:
        raise unknown(name, "preset", preset, PRESETS)
    rest = {key: value for key, value in options.items() if key != "preset"}
    return {**PRESETS[preset], **rest}


def open_robot(
    source: Source, options: GenerationOptions, *, arms: bool = False
) -> tuple[str, Robot]:
    """The robot with the asked accuracy, closure and law, and how messages call it.

    `arms`: whether the caller takes serial arms, which have no poses, too.
    """
    equations = options.get("mechanism")
    name = source.name if isinstance(source, Robot) else fspath(source)
    if not isinstance(source, Robot):
        robot = load(source, mechanism=equations)
    elif equations is None:
        robot = source
    else:
        wrong, expected = "has no meaning", "a robot file, not a robot"
        raise OptionError(name, "mechanism", wrong=wrong, expected=expected, got=shown(equations))
    if robot.arm is not None:
        _check_arm(name, options, arms=arms)
    accuracy, closure = options.get("accuracy"), options.get("closure")
    if closure is not None and closure not in CLOSURES:
        raise unknown(name, "closure", closure, CLOSURES)
    if closure is not None:
        problem = closure_problem(dataclasses.replace(robot, closure=closure))
        if problem:
            wrong = "does not fit the robot"
            raise OptionError(name, "closure", wrong=wrong, expected=problem, got=closure)
    limit = robot.accuracy.residual_limit
    if accuracy is not None and not FINEST_ACCURACY <= accuracy <= limit:
        raise OptionError(
            name,
            "accuracy",
            wrong="is out of range",
            expected=f"{FINEST_ACCURACY:g} m to {limit:g} m",
            got=f"{accuracy:g} m",
        )
    law = options.get("elongation")
    if law is not None and law not in LAWS:
        raise unknown(name, "elongation", law, LAWS)
    if law is not None and not stretches(robot):
        expected = "a robot with the stiffness of a cable"
        raise OptionError(
            name, "elongation", wrong="has no meaning", expected=expected, got=shown(law)
        )
    rate = options.get("sample_rate")
    low, high = SAMPLE_RATES
    if rate is not None and not low <= rate <= high:
        wrong, expected = "is out of range", f"{low:g} to {high:g} Hz"
        raise OptionError(name, "sample-rate", wrong=wrong, expected=expected, got=f"{rate:g} Hz")
    return name, robot.with_options(
        closure=closure, accuracy=accuracy, elongation=law, sample_rate=rate
    )


def _check_arm(name: str, options: GenerationOptions, *, arms: bool) -> None:
    if not arms:
        expected, got = "a robot whose platform has poses", "a serial arm"
        raise InputError(name, "kind", wrong="has no poses", expected=expected, got=got)
    for key in ("accuracy", "closure"):
        if options.get(key) is not None:
            expected = "nothing: an arm's file gives the accuracy of torques"
            raise OptionError(
                name, key, wrong="has no meaning", expected=expected, got=shown(options[key])
            )


def make_design(name: str, robot: Robot, options: GenerationOptions) -> Design:
    """The design of a robot; its parts are computed when they are asked for."""
    options = expanded(name, options)
    chosen = {
        "kernel": "rnea" if robot.arm else "step",
        "target": "xc7z020",
        "profile": "fine",
        "shell": "stream",
        "cores": 1,
        **options,
    }
    known = {"kernel": KERNELS, "target": targets(), "profile": PROFILES, "shell": SHELLS}
    for key, words in known.items():
        if chosen[key] not in words:
            raise unknown(name, key, chosen[key], words)
    kind = KERNELS[chosen["kernel"]]
    chosen.setdefault("ii", kind.usual_ii)
    _check_numbers(name, chosen)
    _check_kind(name, robot, kind, options)
    loaded = chosen.get("runtime_geometry", False)
    if loaded:
        _check_loadable(name, robot, kind)
    with refusing(name):
        kind.columns(robot)  # raises what the kernel misses in the robot's file
    folded = chosen.setdefault("folded", usually_folded(kind, chosen["target"], options))
    if folded and "ii" in options:
        expected, got = "no --ii: the program's length decides", f"--ii {options['ii']}"
        raise OptionError(name, "folded", wrong="takes its own time", expected=expected, got=got)
    if not folded and chosen["cores"] > 1:
        expected, got = "--folded beside it", f"--cores {chosen['cores']}"
        raise OptionError(name, "cores", wrong="is of folded cores", expected=expected, got=got)
    keys = ("kernel", "ii", "target", "profile", "shell", "folded", "cores")
    fields = {key: chosen[key] for key in keys}
    with refusing(name):
        design = Design(
            robot, Options(**fields, clock_mhz=chosen.get("clock"), runtime_geometry=loaded)
        )
        _ = folded and (design.passes or design.preparation)
    return design


def usually_folded(kind: KernelKind, chip: str, options: GenerationOptions) -> bool:
    """Where a pipeline has no room; `track`'s fills an ECP5's registers too far to be placed."""
    family = target(chip).family
    return family == "ice40" or (family == "ecp5" and kind.sampled and "ii" not in options)


def check_pace(name: str, design: Design) -> None:
    """OptionError where samples come faster than the hardware takes them."""
    if not design.kind.sampled:
        return
    most, rate = design.clock_mhz * 1e6 / design.cycles, design.robot.sample_rate
    if rate > most:
        raise OptionError(
            name,
            "sample-rate",
            wrong="is more than the hardware keeps up with",
            expected=f"at most {most:.6g} Hz (a sample takes {design.cycles} cycles at "
            f"{design.clock_mhz:g} MHz), or a smaller --ii",
            got=f"{rate:g} Hz",
        )


def _check_numbers(name: str, chosen: Mapping[str, Any]) -> None:
    if not 1 <= chosen["cores"] <= LARGEST_TEAM:
        expected, got = f"1 to {LARGEST_TEAM} folded cores", chosen["cores"]
        raise OptionError(name, "cores", wrong="is out of range", expected=expected, got=got)
    if not 1 <= chosen["ii"] <= LARGEST_II:
        expected = f"1 to {LARGEST_II} clock cycles"
        raise OptionError(name, "ii", wrong="is out of range", expected=expected, got=chosen["ii"])
    clock = chosen.get("clock")
    if clock is not None and not 0 < clock <= LARGEST_CLOCK_MHZ:
        expected = f"above 0 and at most {LARGEST_CLOCK_MHZ:g} MHz"
        raise OptionError(
            name, "clock", wrong="is out of range", expected=expected, got=f"{clock:g}"
        )


def _check_kind(name: str, robot: Robot, kind: KernelKind, options: GenerationOptions) -> None:
    """That the kernel is made for such a robot and its closure."""
    if "sample_rate" in options and not kind.sampled:
        expected = "a kernel that takes streams of samples: track"
        got = f"kernel {kind.name}"
        raise OptionError(name, "sample-rate", wrong="has no meaning", expected=expected, got=got)
    if options.get("accuracy") is not None and kind.judged != KernelKind.judged:
        expected = f"nothing: the robot's file gives the accuracy of {kind.judged[0]}"
        got = shown(options["accuracy"])
        raise OptionError(name, "accuracy", wrong="has no meaning", expected=expected, got=got)
    if not kind.fits(robot):
        fitting_kinds = [name for name, other in KERNELS.items() if other.fits(robot)]
        raise OptionError(
            name,
            "kernel",
            wrong=f"is not made for the kind {robot.kind} yet",
            expected=f"one of {', '.join(fitting_kinds)}",
            got=kind.name,
        )
    if robot.closure not in kind.closures:
        wrong = kind.refusals.get(robot.closure, f"makes no hardware for {kind.name} yet")
        expected = " or ".join(fitting(kind.closures, robot)) or "another kernel"
        # The robot's own closure is a key of its file, another one an option.
        error = OptionError if "closure" in options else InputError
        raise error(name, "closure", wrong=wrong, expected=expected, got=robot.closure)


def _check_loadable(name: str, robot: Robot, kind: KernelKind) -> None:
    if not robot.cables:
        wrong, expected = "is not made for this kind yet", "a robot with cables or legs"
        raise OptionError(name, "runtime-geometry", wrong=wrong, expected=expected, got=robot.kind)
    if robot.closure not in kind.loadable:
        wrong = f"is not made for {kind.name} with this closure yet"
        expected = " or ".join(fitting(kind.loadable, robot)) or "another kernel"
        raise OptionError(
            name, "runtime-geometry", wrong=wrong, expected=expected, got=robot.closure
        )


def fitting(closures: Iterable[str], robot: Robot) -> list[str]:
    """Those of the closures that the robot can have."""
    changed = {closure: dataclasses.replace(robot, closure=closure) for closure in closures}
    return [closure for closure, other in changed.items() if closure_problem(other) is None]


def open_design(source: Source, options: GenerationOptions) -> Opened:
    """The design of a robot, or of a directory that `generate` wrote."""
    if not isinstance(source, Robot) and Path(source).is_dir():
        return _open_directory(Path(source), options)
    name, robot = open_robot(source, options, arms=True)
    return Opened(name, make_design(name, robot, options))


def _open_directory(directory: Path, options: GenerationOptions) -> Opened:
    name, manifest = str(directory), directory / MANIFEST
    expected = "a directory that generate wrote"
    if not manifest.is_file():
        got = "a directory without it"
        raise InputError(name, MANIFEST, wrong="is missing", expected=expected, got=got)
    try:
        package = read_package(directory)
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise InputError(
            name, MANIFEST, wrong="cannot be read", expected=expected, got=got
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        got = shown(f"{type(error).__name__}: {error}", 160)
        raise InputError(name, MANIFEST, wrong="is broken", expected=expected, got=got) from None
    if not package.verilog.is_file():
        file = package.verilog.name
        raise InputError(name, file, wrong="is missing", expected=expected, got="no such file")
    _check_same(name, expanded(name, options), package.design)
    return Opened(name, package.design, package)


def _check_same(name: str, options: GenerationOptions, design: Design) -> None:
    """A generated directory is what it is: an option may only repeat what it was made with."""
    usual = {"runtime_geometry": False, "folded": False, "shell": "stream", "cores": 1}
    made = usual | {"sample_rate": design.robot.sample_rate} | design.canonical_options
    for key, value in options.items():
        own = made.get("clock_mhz" if key == "clock" else key)
        if value != own:
            wrong = "differs from what the directory was generated with"
            option = key.replace("_", "-")
            raise OptionError(name, option, wrong=wrong, expected=shown(own), got=shown(value))


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Turns what the generator refuses into one error line that begins with `name`."""
    try:
        yield
    except InputError as error:
        raise error.about(name) from None
    except ValueError as error:
        raise InputError(
            name,
            "design",
            wrong="cannot be generated",
            expected="a robot and options that the number formats can carry",
            got=shown(str(error), 200),
        ) from None
