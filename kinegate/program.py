"""The click group of the command line: one line for each error, and the exit statuses."""

from __future__ import annotations

import sys
from typing import Any

import click

from boards.serial_host import LinkError
from hdl.toolrun import ToolError, ToolMissing
from kinegate.designs import OptionError
from sim.batch import BatchError
from solver_ref.errors import InputError, shown

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


class Program(click.Group):
    """A group whose commands return their exit status, and whose errors are one line on stderr.

    0 good; 1 a check failed or a tool is missing; 2 bad input; 130 interrupted.
    """

    def main(self, *args: Any, **extra: Any) -> None:
        """Run a command and exit."""
        extra["standalone_mode"] = False
        try:
            status = super().main(*args, **extra) or 0
        except click.Abort:
            status = _say("interrupted", INTERRUPTED)
        except OptionError as error:
            key = f"--{error.key}"
            status = _say(line(error.file, key, error.wrong, error.expected, error.got), BAD_INPUT)
        except InputError as error:
            status = _say(str(error), BAD_INPUT)
        except click.UsageError as error:
            status = _say(usage_line(error), BAD_INPUT)
        except (ToolMissing, BatchError, LinkError) as error:
            status = _say(str(error), FAILED)
        except ToolError as error:
            first, *tail = str(error).splitlines()
            print(*tail, sep="\n", file=sys.stderr)
            status = _say(first, FAILED)
        sys.exit(status)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first argument; InputError for one that there is not."""
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            raise InputError(
                ctx.command_path,
                "COMMAND",
                wrong="is unknown",
                expected=f"one of {', '.join(self.commands)}",
                got=shown(name),
            )
        return super().resolve_command(ctx, args)


def _say(text: str, status: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    return status


def line(file: str, key: str, wrong: str, expected: str, got: str) -> str:
    """The text of every error about input."""
    return str(InputError(file, key, wrong=wrong, expected=expected, got=got))


def usage_line(error: click.UsageError) -> str:
    """What click says about arguments, in the same words as all other errors."""
    ctx = error.ctx
    file = str(ctx.params.get("robot") or ctx.command_path) if ctx else "kinegate"
    help_text = f"what {ctx.command_path if ctx else 'kinegate'} --help lists"
    message = error.message[:1].lower() + error.message[1:].rstrip(".")
    if isinstance(error, click.NoSuchOption):
        close = f", did you mean {error.possibilities[0]}" if error.possibilities else ""
        return line(file, error.option_name, f"is no option{close}", help_text, error.option_name)
    if isinstance(error, click.MissingParameter) and error.param:
        key = error.param.metavar or error.param.name
        return line(file, key, "is missing", help_text, "nothing")
    if isinstance(error, click.BadOptionUsage):
        return line(file, error.option_name, message, help_text, "another use")
    return line(file, "arguments", message, help_text, "others")
