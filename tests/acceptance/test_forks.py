"""A process may fork while its store is open: what a child acknowledged with a store of its own is there afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ebbing import Memory
from tests.acceptance.child_forker import ADDS, CASES

pytestmark = [pytest.mark.extended, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")]
PROGRAM = Path(__file__).with_name("child_forker.py")
CHILDREN = {"workers_are_forked_beforehand": 4, "parent_is_busy": 4, "parent_goes_on": 2}


def reports(directory: Path, case: str) -> dict[str, dict[str, object]]:
    """What each process of the program was told, by its name."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-W", "ignore", str(PROGRAM), str(directory), case]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    give_up, expected = time.monotonic() + 30, CHILDREN.get(case, 1)
    while len(found := list(directory.glob("*.json"))) < expected and time.monotonic() < give_up:
        time.sleep(0.02)
    assert len(found) == expected, "a child hangs"
    return {file.stem: json.loads(file.read_text()) for file in found}


@pytest.mark.parametrize("case", [name for name in CASES if name != "child_uses_what_it_inherited"])
def test_nothing_that_a_child_was_told_is_stored_is_lost(tmp_path: Path, case: str) -> None:
    told = reports(tmp_path, case)
    assert [report["error"] for report in told.values()] == [""] * len(told)
    with Memory(path=tmp_path / "store", embedder="none") as memory:
        for name, report in told.items():
            there = {item["id"] for item in memory.get_all(user_id=name, limit=1_000)["results"]}
            assert there == set(report["ids"])  # type: ignore[call-overload]
            assert len(there) == ADDS
        assert memory.maintenance.verify() == []


def test_a_child_that_uses_its_parents_memory_is_told_what_to_do_instead(tmp_path: Path) -> None:
    [report] = reports(tmp_path, "child_uses_what_it_inherited").values()
    assert report == {
        "ids": [],
        "error": "StoreError: this memory was opened before a fork: open a new one in each process",
    }
