"""A real language model, where a tester names one: skipped, and said to be, everywhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ebbing.testing.models.fake_llm import FakeLlm, Rule

# Read when this file is collected: while tests run, nobody's settings are visible.
BASE_URL = os.environ.get("EBBING_TEST_LLM_BASE_URL", "")
MODEL = os.environ.get("EBBING_TEST_LLM_MODEL", "")
KEY = os.environ.get("EBBING_TEST_LLM_API_KEY", "")
CHILD = Path(__file__).with_name("child_real_model.py")


def told_by(base_url: str, model: str, key: str) -> dict[str, Any]:
    """What a process of its own got out of the model; in this one the network is closed."""
    done = subprocess.run(
        [sys.executable, str(CHILD), base_url, model],
        input=key,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=3_600,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.slow
@pytest.mark.skipif(not (BASE_URL and MODEL), reason="EBBING_TEST_LLM_BASE_URL and _MODEL name no model")
def test_a_real_model_reads_and_decides_sensibly() -> None:
    told = told_by(BASE_URL, MODEL, KEY)
    print(json.dumps(told, ensure_ascii=False, indent=1))
    assert all(told[name]["failed"] is None for name in ("name", "move", "small talk", "supposed"))
    assert any("Desmond" in fact for fact in told["name"]["facts"])
    assert any("Jesica" in fact for fact in told["name"]["facts"])
    assert any("上海" in fact for fact in told["move"]["facts"])
    assert any("咖啡" in fact for fact in told["move"]["facts"])
    assert told["small talk"]["facts"] == []
    assert told["supposed"]["facts"] == []
    assert told["home"] == "Supersede"
    assert told["pizza"] in {"Keep", "Update"}
    assert told["dislike"] == "Supersede"
    assert told["latte"] == "Add"


@pytest.mark.slow
def test_the_process_that_asks_a_real_model_works() -> None:
    add = {"decisions": [{"fact": 0, "action": "ADD", "memory": None, "text": None, "reason": ""}]}
    with FakeLlm([Rule('"memories"', add)], api_key="k") as llm:
        told = told_by(llm.url, "fake", "k")
    assert told["name"] == {"facts": [], "failed": None}
    assert told["home"] == "Add"
