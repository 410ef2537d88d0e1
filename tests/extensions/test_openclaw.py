"""OpenClaw remembers through this service: by mem0's plugin, as npm has it, and by ours.

OpenClaw itself is not installed: it takes a gigabyte. `openclaw_life.mjs` calls the hooks and tools of a plugin as its
gateway does. The one import that mem0's plugin has from OpenClaw, `definePluginEntry`, returns what it is given.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.slow_service import dead_service, silent_service
from tests.registry_clients import node_with, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "extensions" / "openclaw"
QUESTION = "what must I not eat: peanuts?"
SDK = {
    "package.json": '{"name": "openclaw", "type": "module", "exports": {"./plugin-sdk/plugin-entry": "./entry.js"}}',
    "entry.js": "export const definePluginEntry = (entry) => entry;",
}


def lived(plugin: str | Path, *, folder: Path, **configuration: object) -> dict[str, Any]:
    """What a plugin did for two turns of one session and the first of another."""
    shutil.copy(HERE / "openclaw_life.mjs", folder)
    rounds = {} if configuration.pop("answers", True) else {"OPENCLAW_TEST_ROUNDS": "1", "OPENCLAW_TEST_TURNS": "20"}
    settings = {"HOME": str(folder), "MEM0_TELEMETRY": "false", **rounds}
    command = ["node", "openclaw_life.mjs", plugin, json.dumps(configuration), QUESTION]
    made: dict[str, Any] = json.loads(succeed(command, folder=folder, settings=settings))
    return made


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder for programs; Node must be there."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return tmp_path


def test_mem0s_plugin_recalls_from_this_service(address: str) -> None:
    folder = node_with("openclaw-mem0", "@mem0/openclaw-mem0@1.0.16", "--legacy-peer-deps", "--ignore-scripts")
    sdk = folder / "node_modules" / "openclaw"
    sdk.mkdir(exist_ok=True)
    for name, text in SDK.items():
        (sdk / name).write_text(text)
    mem0 = {"mode": "platform", "apiKey": "any", "baseUrl": address, "userId": "claw"}
    life = lived("@mem0/openclaw-mem0", folder=folder, **mem0)
    assert "allergic to peanuts" in life["recalled"], life["lines"]
    assert "海鲜过敏" in life["recalled"]
    assert "allergic to peanuts" in life["tool"]


def test_our_plugin_recalls_in_a_later_session_what_an_earlier_one_was_told(address: str, node: Path) -> None:
    life = lived(PLUGIN / "index.js", folder=node, baseUrl=address, userId="lobster")
    assert life["recalled"].startswith("<recalled-memory>")
    assert "allergic to peanuts" in life["recalled"]
    assert "海鲜过敏" in life["recalled"]
    assert life["lines"] == [
        f"info: ebbing: {life['recalled'].count(chr(10) + '- ')} memories stand before this message"
    ]


def test_the_manifest_names_the_tools_and_settings_that_the_plugin_has(address: str, node: Path) -> None:
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))
    assert manifest["kind"] == "memory"
    life = lived(PLUGIN / "index.js", folder=node, baseUrl=address, userId="manifest")
    assert sorted(manifest["contracts"]["tools"]) == life["tools"]
    code = (PLUGIN / "index.js").read_text("utf-8")
    for name, schema in manifest["configSchema"]["properties"].items():
        assert f"settings.{name}" in code
        if "default" in schema and schema["default"] not in (600, 1500):
            assert f"{name}: {json.dumps(schema['default'])}" in code


def test_a_turn_goes_on_where_nobody_listens(node: Path) -> None:
    life = lived(PLUGIN / "index.js", folder=node, baseUrl=dead_service(), answers=False)
    assert life["recalled"] == ""
    assert "Go on without it" in life["tool"]


def test_a_turn_waits_for_a_silent_service_no_longer_than_the_recall_may_take(node: Path) -> None:
    with silent_service() as address:
        life = lived(PLUGIN / "index.js", folder=node, baseUrl=address, recallMs=300, autoCapture=False, answers=False)
    assert life["recalled"] == ""
    assert life["recall_seconds"] < 2
    assert life["turns_seconds"] < 2, "after three failures nobody waits for it"
