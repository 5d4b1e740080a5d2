"""What a format that can be imported provides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from solver_ref.importing.arm_draft import ArmDraft
from solver_ref.importing.draft import Draft


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user says beside the file: `cable_set`, which of several sets of cables; `units`, a
    word of `solver_ref.fields.LENGTH_UNITS`, of a file that need not say what its lengths are in.
    """

    cable_set: str | None = None
    units: str | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The names of those that were said."""
        return tuple(name for name, value in vars(self).items() if value is not None)


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format, found in `solver_ref.importing.formats`.

    `what`: the file to name, in words; `recognises`: whether a path and its bytes are of this
    format; `read`: the draft of a robot from them. It raises InputError naming the file, the place
    and what is wrong or cannot be represented. `settings`: those that mean something to it.
    """

    name: str
    what: str
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path, bytes, Settings], Draft | ArmDraft]
    settings: tuple[str, ...] = ()
