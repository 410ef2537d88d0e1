"""Without its framework a door says which extra brings it."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from ebbing.errors import MissingExtraError

REPOSITORY = Path(__file__).parents[2]
EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
DOORS = {
    "google_adk": ("google.adk.events.event", "google-adk"),
    "langchain": ("langchain_core.callbacks", "langchain"),
    "langgraph": ("langgraph.store.base", "langgraph"),
    "llama_index": ("llama_index.core.memory", "llama-index"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_without_its_framework_names_the_extra(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    framework, extra = DOORS[door]
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"ebbing.integrations.{door}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ebbing\[{extra}\]'"):
        importlib.import_module(f"ebbing.integrations.{door}")
    assert extra in EXTRAS
    assert any(requirement.startswith(extra.replace("langchain", "langchain-core")) for requirement in EXTRAS[extra])


def test_every_door_of_the_package_is_tried_here() -> None:
    modules = {path.stem for path in (REPOSITORY / "src" / "ebbing" / "integrations").glob("*.py")}
    assert modules - {"__init__", "host_memory", "item_records", "stored_items"} == set(DOORS)
