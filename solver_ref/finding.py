"""One finding of a robot's analysis."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding: an `error` makes the robot unsolvable, a `warning` a part of its workspace, a
    `note` is worth knowing. `name` is its fixed word, `text` one sentence or two."""

    severity: Literal["error", "warning", "note"]
    name: str
    text: str
