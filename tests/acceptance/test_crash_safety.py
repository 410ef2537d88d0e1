"""A process is killed in the middle of writing: nothing that was acknowledged is lost, and every index agrees."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import connect

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock
from ebbing.domain.memory.scope import Scope
from tests.acceptance.child_writer import CALLERS, EMBEDDER

CHILD = Path(__file__).with_name("child_writer.py")


@dataclass
class Acknowledged:
    """What a killed process had said before it died."""

    kept: set[str] = field(default_factory=set)
    revised: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    """Being erased when the process died: either is right."""

    def read(self, output: str) -> None:
        for line in output.splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # the last line may be torn
            what, *ids = line.split()
            if what == "ADDED":
                self.kept.update(ids)
            elif what == "REVISED":
                self.revised.update(ids)
            elif what == "ERASING":
                self.unsure.update(ids)
            elif what == "ERASED":
                self.erased.update(ids)
        self.kept -= self.unsure
        self.revised -= self.unsure
        self.unsure -= self.erased


def killed_after(seconds: float, directory: Path, *, name: str) -> str:
    """What a writing process had acknowledged when it was killed (SIGKILL)."""
    command = [sys.executable, str(CHILD), str(directory), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first.startswith("ADDED"), first
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        return first + child.stdout.read()


async def lost(directory: Path, said: Acknowledged, names: list[str]) -> list[str]:
    """What is not as it was acknowledged, in words."""
    store = SqliteMemoryStore.open(directory, clock=SystemClock(), model_id=EMBEDDER.model_id, dim=EMBEDDER.dim)
    found, searchable = {}, set()
    for scope in (Scope(user_id=f"{name} {number}") for name in names for number in range(CALLERS)):
        wanted = sorted(said.kept | said.revised | said.erased)
        found.update({record.id: record for record in await store.get(scope, wanted)})
        shard = await store.shard(scope)
        searchable.update(shard.ids[row] for row in range(shard.size) if shard.alive[row])
    wrong = [
        *(f"{memory_id} is lost" for memory_id in said.kept - found.keys()),
        *(f"{memory_id} cannot be searched" for memory_id in said.kept - searchable),
        *(f"{memory_id} is erased and still there" for memory_id in said.erased & (found.keys() | searchable)),
        *(
            f"{memory_id} lost its revision"
            for memory_id in said.revised & found.keys()
            if found[memory_id].version < 2
        ),
        *await store.verify(),
    ]
    await store.aclose()
    return wrong


def rounds_of_kill(directory: Path, rounds: int) -> None:
    chance, said = random.Random(20_240_508), Acknowledged()
    for number in range(rounds):
        name = f"round-{number}"
        said.read(killed_after(chance.uniform(0.0, 0.25), directory, name=name))
        # Verifying everything after each round would take longer than writing it; what counts is there each time.
        with closing(connect(directory / "ebbing.db")) as db:
            ids = {row[0] for row in db.execute("SELECT id FROM memory")}
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert said.kept <= ids, f"round {number} lost {len(said.kept - ids)} acknowledged memories"
        assert not said.erased & ids, f"round {number} brought erased memories back"
    assert len(said.kept) > rounds
    assert said.revised
    assert said.erased
    assert asyncio.run(lost(directory, said, [f"round-{number}" for number in range(rounds)])) == []


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    rounds_of_kill(tmp_path, 5)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_fifty_kills(tmp_path: Path) -> None:
    rounds_of_kill(tmp_path, 50)
