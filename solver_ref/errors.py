"""Bad input has one form everywhere: one line that names the file, the key, and what was wanted."""

from os import PathLike


class InputError(ValueError):
    """A file (or a name given in its place) that cannot be used.

    Its text is exactly one line, ``FILE: KEY: what is wrong; expected ...; got ...``; the command
    line writes it after ``error: `` and exits with status 2.
    """

    def __init__(
        self, file: str | PathLike[str], key: str, *, wrong: str, expected: str, got: str
    ) -> None:
        self.file = str(file)
        self.key = key
        self.wrong = wrong
        self.expected = expected
        self.got = got
        text = f"{self.file}: {key}: {wrong}; expected {expected}; got {got}"
        super().__init__(" ".join(text.split()))

    def about(self, file: str | PathLike[str]) -> "InputError":
        """The same error of another file: what a robot's user calls it, in place of its name."""
        told = {"wrong": self.wrong, "expected": self.expected, "got": self.got}
        return type(self)(file, self.key, **told)


def shown(value: object, limit: int = 60) -> str:
    """`value` as it may stand in a message: printable, on one line, at most `limit` characters."""
    text = repr(value) if isinstance(value, str) else str(value)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
