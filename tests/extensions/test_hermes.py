"""Hermes, as PyPI has it, remembers through this service: by its own mem0 provider, and by ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.slow_service import dead_service, silent_service
from tests.registry_clients import python_with, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "extensions" / "hermes"
QUESTION = "what must I not eat: peanuts?"


def lived(name: str, *, address: str, home: Path, **settings: str) -> dict[str, Any]:
    """What a provider did in Hermes' own loader and manager."""
    python = python_with("hermes", "hermes-agent==0.19.0", "mem0ai>=2.0.10,<3")
    shutil.copytree(PLUGIN, home / "plugins" / "ebbing", ignore=shutil.ignore_patterns("__pycache__"))
    told = {"HERMES_HOME": str(home), "EBBING_CLIENT_BASE_URL": address, "MEM0_HOST": address, "MEM0_API_KEY": "any"}
    settings = {**told, "MEM0_TELEMETRY": "false", **settings}
    made: dict[str, Any] = json.loads(
        succeed([python, HERE / "hermes_life.py", name, QUESTION], folder=home, settings=settings)
    )
    return made


@pytest.mark.parametrize("name", ["mem0", "ebbing"])
def test_a_later_session_recalls_what_an_earlier_one_was_told(name: str, address: str, tmp_path: Path) -> None:
    user = f"hermes-{name}"
    life = lived(name, address=address, home=tmp_path, MEM0_USER_ID=user, EBBING_USER=user)
    assert "allergic to peanuts" in life["recalled"]
    assert "海鲜过敏" in life["recalled"]
    assert "allergic to peanuts" in life["tool"]
    assert life["sync_seconds"] < 1


def test_each_sender_of_a_channel_has_a_memory_of_their_own(address: str, tmp_path: Path) -> None:
    lived("ebbing", address=address, home=tmp_path / "first")
    stranger = lived(
        "ebbing", address=address, home=tmp_path / "second", HERMES_TEST_SENDER="78", HERMES_TEST_QUIET="1"
    )
    assert "peanuts" not in stranger["recalled"]


def test_hermes_goes_on_where_nobody_listens(tmp_path: Path) -> None:
    life = lived("ebbing", address=dead_service(), home=tmp_path)
    assert life["recalled"] == ""
    assert "Go on without it" in life["tool"]


def test_hermes_waits_for_a_silent_service_no_longer_than_the_recall_may_take(tmp_path: Path) -> None:
    with silent_service() as address:
        life = lived("ebbing", address=address, home=tmp_path, HERMES_TEST_QUIET="1", HERMES_TEST_TURNS="10")
    assert life["recalled"] == ""
    assert life["recall_seconds"] < 3
    assert life["turns_seconds"] < 6, "after three failures nobody waits for it"
    assert "Go on without it" in life["tool"]
