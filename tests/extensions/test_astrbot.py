"""AstrBot, as PyPI has it, remembers through our plugin."""

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
PLUGIN = HERE.parents[1] / "extensions" / "astrbot"
PROMPT = "你是助手。"


def lived(folder: Path, **settings: object) -> dict[str, Any]:
    """What models were given in one life of the plugin."""
    python = python_with("astrbot", "astrbot>=4.14,<5", "httpx>=0.27")
    shutil.copytree(PLUGIN, folder / "data" / "plugins" / "astrbot_plugin_ebbing")
    command = [python, HERE / "astrbot_life.py", folder, json.dumps(settings)]
    made: dict[str, Any] = json.loads(succeed(command, folder=folder).strip().splitlines()[-1])
    return made


def test_a_sender_is_remembered_for_each_group_by_itself(address: str, tmp_path: Path) -> None:
    life = lived(tmp_path, base_url=address, recall_seconds=20)
    assert "花生过敏" in life["private"]
    assert "芒果过敏" not in life["private"]
    assert "小麦" not in life["private"], "what is said on the way to a tool is remembered with the answer alone"
    assert life["private"].startswith(PROMPT)
    assert life["shown"] in life["private"]
    assert "芒果过敏" in life["group"]
    assert "花生过敏" not in life["group"]
    assert life["other_group"] == life["other_sender"] == PROMPT
    assert len(life["private"]) < 600


def test_a_person_can_have_a_single_memory_everywhere_by_setting(address: str, tmp_path: Path) -> None:
    life = lived(tmp_path, base_url=address, share_groups=True, recall_seconds=20)
    assert "芒果过敏" in life["private"]
    assert "花生过敏" in life["other_group"]
    assert life["other_sender"] == PROMPT


def test_a_chat_goes_on_where_nobody_listens(tmp_path: Path) -> None:
    life = lived(tmp_path, base_url=dead_service())
    assert life["private"] == life["group"] == PROMPT


def test_a_chat_waits_for_a_silent_service_no_longer_than_its_setting(tmp_path: Path) -> None:
    with silent_service() as address:
        life = lived(tmp_path, base_url=address, recall_seconds=0.3)
    assert life["private"] == PROMPT
    assert life["seconds"] < 2
