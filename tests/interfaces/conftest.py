"""The command line on a memory of its own, without a model."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from ebbing.interfaces.cli import app
from tests.interfaces.cli import Ebbing, runner

get_command_once = cache(get_command)
"""A process builds the tree of commands for its one command; a test run would build it a thousand times."""


@pytest.fixture
def ebbing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ebbing:
    """Runs a command; keywords alone are searched, so that no model is loaded."""
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    monkeypatch.setattr(app, "get_command", get_command_once)
    return runner(tmp_path / "store", capsys)


@pytest.fixture
def empty_store(ebbing: Ebbing) -> None:
    """The store of `ebbing`, made and empty: commands that read make none."""
    assert ebbing("profile", "defaults", "--clear").code == 0
