"""The command line on a memory of its own, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.cli import Ebbing, runner


@pytest.fixture
def ebbing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ebbing:
    """Runs a command; keywords alone are searched, so that no model is loaded."""
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    return runner(tmp_path / "store", capsys)


@pytest.fixture
def empty_store(ebbing: Ebbing) -> None:
    """The store of `ebbing`, made and empty: commands that read make none."""
    assert ebbing("profile", "defaults", "--clear").code == 0
