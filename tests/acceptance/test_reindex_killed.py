"""A process that makes vectors for another embedder is killed again and again: none is lost, made twice, or wrong."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ebbing import Memory
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import passage
from ebbing.testing.models.embedder import FakeEmbedder

pytestmark = pytest.mark.extended

ROWS = 400
CHILD = """
import asyncio, sys
from ebbing import Memory
from ebbing.testing.models.embedder import FakeEmbedder

class Slow(FakeEmbedder):
    async def embed_passages(self, texts):
        sys.stdout.write(f"{len(texts)}\\n")
        sys.stdout.flush()
        await asyncio.sleep(0.03)
        return self.embed(texts)

with Memory(sys.argv[1], embedder=Slow(48)) as memory:
    memory.jobs.run_worker(until_idle=True)
    sys.stdout.write("done\\n")
"""


def filled(path: Path) -> list[str]:
    """Ids of what an older embedder left, of four owners."""
    with Memory(path, embedder=FakeEmbedder(64)) as memory:
        records = memory.export  # the ids are those of the export
        for owner in range(4):
            messages = [f"note {number} of {owner}" for number in range(ROWS // 4)]
            memory.add(messages, user_id=f"user{owner}", infer=False)
        return [record["id"] for owner in range(4) for record in records(user_id=f"user{owner}")["records"]]


def killed_after(seconds: float, path: Path) -> str:
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        return first + child.stdout.read()


def embedded(path: Path) -> dict[str, int]:
    with Memory(path, embedder="none") as memory:
        return dict(memory.maintenance.stats()["by_model"])


@pytest.mark.parametrize("rounds", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_a_killed_change_of_the_embedder_is_completed_by_the_next_process(tmp_path: Path, rounds: int) -> None:
    ids, chance = filled(tmp_path), random.Random(5)
    before = 0
    for _ in range(rounds):
        said = killed_after(chance.uniform(0.0, 0.15), tmp_path)
        done = embedded(tmp_path).get("fake-48", 0)
        assert before <= done, "what was done is not undone"
        before = done
        if said.endswith("done\n"):
            break
    embedder = FakeEmbedder(48)
    with Memory(tmp_path, embedder=embedder) as memory:
        # The killed worker's lease still runs: the daily round takes what it left.
        memory.maintenance.run()
        assert memory.maintenance.stats()["by_model"].keys() == {"fake-48"}
        assert memory.maintenance.stats()["by_model"]["fake-48"] >= ROWS, (
            "the worker may have summed something up beside them"
        )
        assert memory.maintenance.verify() == []
        store = memory.components.store
        assert memory._run(lambda: store.stats("default")).without_vector == 0
        for owner in range(4):
            scope = Scope(user_id=f"user{owner}")
            shard = memory._run(lambda scope=scope: store.shard(scope))
            living = [row for row in range(shard.size) if shard.alive[row]]
            found = [shard.ids[row] for row in living]
            assert set(ids[owner * ROWS // 4 : (owner + 1) * ROWS // 4]) <= set(found)
            assert len(found) == len(set(found)), "none is there twice"
            assert shard.embedded[living].all()
            records = memory._run(lambda scope=scope, shard=shard: store.get(scope, shard.ids))
            texts = {record.id: passage(record) for record in records}
            wanted = embedder.embed([texts[shard.ids[row]] for row in living])
            assert np.allclose(shard.vectors[living], wanted, atol=1e-3)
