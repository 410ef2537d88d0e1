"""The extension for SillyTavern without SillyTavern: its rules by Node's own tests, its style by ESLint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.registry_clients import node_with, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "extensions" / "sillytavern"


def test_the_rules_of_what_is_written_and_when_hold() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    printed = succeed(
        ["node", "--test", "--test-reporter=tap", HERE / "ledger.test.mjs"],
        folder=HERE,
        settings={"EXTENSION": str(EXTENSION)},
    )
    assert "# fail 0" in printed


def test_eslint_finds_nothing_in_the_extension() -> None:
    folder = node_with("eslint", "eslint@9.36.0", "@eslint/js@9.36.0", "globals@16.4.0")
    # What the settings of ESLint import is looked for beside them.
    copy = folder / "checked"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(EXTENSION, copy)
    succeed(["npx", "--no-install", "eslint", "--max-warnings", "0", "."], folder=copy)
