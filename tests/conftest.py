"""What several test files need."""

import pytest
from click.testing import CliRunner

from kinegate.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in a directory of its own, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *words: CliRunner().invoke(main, words, prog_name="kinegate")
