"""Files of other projects that lie beside this one: tests read them where they are there."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path(os.environ.get("KINEGATE_DATA", ROOT.parent / "shared" / "data"))


def outside(*parts: str) -> Path:
    """The path of one of them; skips the test where it is absent."""
    path = PLACE.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there (KINEGATE_DATA names its directory)")
    return path
