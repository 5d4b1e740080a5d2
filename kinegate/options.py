"""Options of the command line: their types and the ones that many commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import click

from kinegate.designs import OptionError
from solver_ref.errors import shown
from solver_ref.kernels import KERNELS

_LENGTH = re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*(nm|um|µm|mm|cm|m)", re.IGNORECASE)
_UNITS = {
    "nm": Decimal("1e-9"),
    "um": Decimal("1e-6"),
    "µm": Decimal("1e-6"),
    "mm": Decimal("1e-3"),
    "cm": Decimal("1e-2"),
    "m": Decimal(1),
}


class Value(click.ParamType):
    """A value that `read` makes of a text, or else one error line that says what was expected."""

    def __init__(self, name: str, read: Callable[[str], Any], expected: str) -> None:
        self.name, self.read, self.expected = name, read, expected

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except (ValueError, ArithmeticError):
            file = str(ctx.params.get("robot") or ctx.command_path)
            raise OptionError(
                file,
                param.opts[0].lstrip("-"),
                wrong="cannot be read",
                expected=self.expected,
                got=shown(value),
            ) from None


def _length(text: str) -> float:
    match = _LENGTH.fullmatch(text.strip())
    if not match:
        raise ValueError(text)
    return float(Decimal(match[1] + (match[2] or "")) * _UNITS[match[3].lower()])


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split(","))


def _ranges(text: str) -> tuple[tuple[float, float], ...]:
    pairs = [tuple(float(number) for number in word.split(":")) for word in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(text)
    return tuple(pairs)


LENGTH = Value("length", _length, "a length with its unit, such as 10um or 0.01mm")

INTEGER = Value("integer", int, "an integer")
NUMBER = Value("number", float, "a number")
VIEW = Value("view", _numbers, "elevation and azimuth in degrees, such as 22,-62")
POSE = Value("pose", _numbers, "numbers between commas, such as 0,0,2")
RANGES = Value("ranges", _ranges, "low:high of each position, such as -1:1,-1:1,0.5:2")

_GENERATION = (
    click.option(
        "--kernel", metavar="K", help=f"One of {', '.join(KERNELS)} [step; to solve forward]."
    ),
    click.option(
        "--ii", type=INTEGER, metavar="N", help="Clock cycles between inputs [4; track 32]."
    ),
    click.option("--preset", metavar="P", help="zynq7020: the options of a published design."),
    click.option("--target", metavar="T", help="The chip [xc7z020]; see `kinegate list`."),
    click.option(
        "--accuracy", type=LENGTH, metavar="LENGTH", help="Such as 10um [the robot's own]."
    ),
    click.option("--clock", type=NUMBER, metavar="MHZ", help="[120; on ECP5 100, track 75]."),
    click.option("--profile", metavar="P", help="fine or 18bit [fine]."),
    click.option(
        "--closure", metavar="C", help="What closes an under-determined robot [the robot's own]."
    ),
    click.option(
        "--mechanism", metavar="FILE.py", help="Loop equations of a robot of the kind custom."
    ),
    click.option(
        "--runtime-geometry",
        is_flag=True,
        default=None,
        help="Anchors, attachments, radii, offsets, tension limits and stiffness can be loaded.",
    ),
    click.option(
        "--sample-rate", type=NUMBER, metavar="HZ", help="How often track gets lengths [10000]."
    ),
    click.option(
        "--shell", metavar="S", help="stream, axi or axi64: what is around the kernel [stream]."
    ),
    click.option(
        "--folded",
        is_flag=True,
        default=None,
        help="One small core that runs a program, instead of a pipeline [on iCE40; track on ECP5].",
    ),
    click.option(
        "--cores", type=INTEGER, metavar="N", help="Folded cores, which take transfers in turn [1]."
    ),
    click.option(
        "--elongation", metavar="LAW", help="By which cables stretch: integrated or printed."
    ),
)


def generation_options(command: Callable) -> Callable:
    """Adds the options of every command that takes a robot."""
    for option in reversed(_GENERATION):
        command = option(command)
    return command


def robot_argument(metavar: str = "ROBOT") -> Callable:
    """The first argument: read before the options, so that their errors can name it."""
    return click.argument("robot", metavar=metavar, is_eager=True)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Those options that were written."""
    return {name: value for name, value in options.items() if value is not None}


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
seed_option = click.option("--seed", type=INTEGER, metavar="S", help="Of the random vectors [0].")
vectors_option = click.option("--vectors", type=INTEGER, metavar="N", help="How many [1000].")
