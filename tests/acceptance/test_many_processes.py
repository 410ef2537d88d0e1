"""Several processes write to one store at once: no lost update, no "locked" error, each sees the others' writes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.domain.memory.record import MemoryRecord
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Insert
from tests.acceptance.child_counter import SHARED

pytestmark = pytest.mark.extended
CHILD = Path(__file__).with_name("child_counter.py")
TIMES = 60


async def with_a_counter(directory: Path) -> MemoryRecord:
    store, now = SqliteMemoryStore.open(directory, clock=SystemClock()), SystemClock().now()
    counter = MemoryRecord(TimeOrderedIds().new(), SHARED, "the counter", now, now)
    await store.write(SHARED, [Insert(counter, entry_for(analyse(counter.content, said_at=now)))])
    await store.aclose()
    return counter


async def after(directory: Path, counter: MemoryRecord) -> tuple[MemoryRecord, int, list[str]]:
    store = SqliteMemoryStore.open(directory, clock=SystemClock())
    [raised] = await store.get(SHARED, [counter.id])
    notes, findings = (await store.shard(SHARED)).size - 1, await store.verify()
    await store.aclose()
    return raised, notes, findings


def test_processes_at_once_lose_no_update(tmp_path: Path) -> None:
    counter = asyncio.run(with_a_counter(tmp_path))
    command = [sys.executable, str(CHILD), str(tmp_path), counter.id]
    children = [
        subprocess.Popen([*command, name, str(TIMES)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("one", "two", "three")
    ]
    told = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], [error for _, error in told]
    raised, notes, findings = asyncio.run(after(tmp_path, counter))
    assert (raised.access_count, raised.version) == (3 * TIMES, 3 * TIMES + 1)
    assert notes == 3 * TIMES
    assert findings == []
    seen = [json.loads(output) for output, _ in told]
    assert max(child["strangers"] for child in seen) > 0, "no process ever saw another's notes"


OPEN = """
import sys
from ebbing.adapters.system.machine import SystemClock
from ebbing.adapters.sqlite import SqliteMemoryStore
SqliteMemoryStore.open(sys.argv[1], clock=SystemClock(), history_path=sys.argv[2] or None)
"""


@pytest.mark.parametrize("history", ["", "history.db"])
def test_processes_may_open_a_new_store_at_the_same_time(tmp_path: Path, history: str) -> None:
    command = [sys.executable, "-c", OPEN, str(tmp_path / "new"), str(tmp_path / history) if history else ""]
    children = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    errors = [child.communicate(timeout=60)[1] for child in children]
    assert [child.returncode for child in children] == [0] * 4, errors
