"""What is said is kept when the embedder fails, hangs or changes, and gets its vector later."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.embeddings_endpoint import EmbeddingsEndpoint

SAID = "My sister Lin lives in Suzhou and plays the violin."


class Shaky(FakeEmbedder):
    """Works, fails or hangs, as it is told."""

    def __init__(self, dim: int = 64) -> None:
        super().__init__(dim)
        self.error: Exception | None = None
        self.hangs = False

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.hangs:
            await asyncio.sleep(60)
        if self.error:
            raise self.error
        return self.embed(texts)


def opened(path: Path, embedder: Embedder | None, *, clock: ManualClock | None = None, **settings: Any) -> Memory:
    asked = load_settings({"path": path, **({"embedder": "none"} if embedder is None else {}), **settings})
    return Memory(components=build(asked, embedder=embedder, clock=clock or ManualClock()))


def bare(memory: Memory) -> int:
    memory.maintenance.diagnose()  # which looks at the embedder
    return int(memory._run(lambda: memory.components.store.stats("default")).without_vector)


@pytest.mark.parametrize(
    "error", [EmbeddingError("down"), ValueError("secret text"), OSError("no route"), MemoryError(), KeyError("x")]
)
@pytest.mark.parametrize("infer", [True, False])
def test_what_cannot_be_embedded_is_stored_found_by_its_words_and_embedded_later(
    tmp_path: Path, error: Exception, infer: bool, caplog: pytest.LogCaptureFixture
) -> None:
    clock, embedder = ManualClock(), Shaky()
    with opened(tmp_path, embedder, clock=clock) as memory:
        embedder.error = error
        assert memory.add(SAID, user_id="ada", infer=infer)["results"]
        assert memory.search("Where does Lin live?", user_id="ada")["results"]
        assert "secret text" not in caplog.text
        assert bare(memory) > 0
        embedder.error = None
        clock.advance(timedelta(minutes=2))
        assert memory.jobs.run_worker(until_idle=True)["failed"] == 0
        assert bare(memory) == 0
        found = memory.search("Where does Lin live?", user_id="ada")["results"]
        assert "semantic" in found[0]["retriever_scores"]
        assert memory.maintenance.verify() == []


def test_an_embedder_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    embedder = Shaky()
    with opened(tmp_path, embedder, embedding_timeout_seconds=0.3) as memory:
        embedder.hangs = True
        began = time.monotonic()
        added = memory.add(SAID, user_id="ada", infer=False)["results"]
        memory.update(added[0]["id"], f"{SAID} Also the cello.")
        assert time.monotonic() - began < 5
        assert memory.get(added[0]["id"])["memory"].endswith("cello.")


def test_whoever_wants_no_memory_without_its_vector_says_so(tmp_path: Path) -> None:
    embedder = Shaky()
    with opened(tmp_path, embedder, strict_embeddings=True) as memory:
        [kept] = memory.add(SAID, user_id="ada", infer=False)["results"]
        embedder.error = ValueError("broken")
        for call in (
            lambda: memory.add("I moved to Leeds.", user_id="ada"),
            lambda: memory.add("I moved to Leeds.", user_id="ada", infer=False),
            lambda: memory.update(kept["id"], "another wording"),
            lambda: memory.import_([{**memory.export(user_id="ada")["records"][0], "id": "new"}]),
        ):
            with pytest.raises(EmbeddingError):
                call()
        assert [item["memory"] for item in memory.get_all(user_id="ada", include="all")["results"]] == [SAID]


def test_a_session_is_kept_without_vectors_when_the_memory_closes_however_strict_it_is(tmp_path: Path) -> None:
    embedder = Shaky()
    with opened(tmp_path, embedder, strict_embeddings=True) as memory:
        memory.session(user_id="ada").add(SAID)
        embedder.error = EmbeddingError("down")
    with opened(tmp_path, FakeEmbedder()) as memory:
        assert memory.get_all(user_id="ada", include="episodes")["results"]
        assert memory.maintenance.run(user_id="ada")["steps"]["reindex"]["embedded"] > 0
        assert bare(memory) == 0


def test_another_embedder_takes_over_while_everything_stays_findable(tmp_path: Path) -> None:
    clock = ManualClock()
    with opened(tmp_path, FakeEmbedder(64), clock=clock) as memory:
        for number in range(150):
            memory.add(f"note {number} about topic{number % 7}", user_id=f"user{number % 3}", infer=False)
    with opened(tmp_path, FakeEmbedder(48), clock=clock) as memory:
        [finding] = [one for one in memory.maintenance.diagnose()["findings"] if one["part"] == "vectors"]
        assert finding["state"] == "attention"
        assert "150 of 150 rows" in finding["detail"]
        assert memory.maintenance.stats()["by_model"] == {"fake-64": 150}
        found = memory.search("note 12", user_id="user0")["results"]
        assert found[0]["memory"].startswith("note 12 ")
        assert memory.jobs.run_worker(until_idle=True)["failed"] == 0
        assert set(memory.maintenance.stats()["by_model"]) == {"fake-48"}
        assert "vectors" not in {one["part"] for one in memory.maintenance.diagnose()["findings"]}
        assert "semantic" in memory.search("note 12", user_id="user0")["results"][0]["retriever_scores"]
        assert memory.maintenance.verify() == []
    with opened(tmp_path, None, clock=clock) as memory:
        memory.maintenance.run()
        assert set(memory.maintenance.stats()["by_model"]) == {"fake-48"}, "without an embedder nothing is thrown away"


def endpoint_memory(path: Path, endpoint: EmbeddingsEndpoint, **settings: Any) -> Memory:
    asked = {"embedder": "openai", "embedding_base_url": endpoint.url, "embedding_model": "m", **settings}
    return Memory(components=build(load_settings({"path": path, "store": "sqlite", **asked}), clock=ManualClock()))


def test_an_endpoint_whose_vectors_change_their_length_spoils_no_store(tmp_path: Path) -> None:
    with EmbeddingsEndpoint(16) as endpoint, endpoint_memory(tmp_path, endpoint) as memory:
        memory.add("I like tea", user_id="ada", infer=False)
    with EmbeddingsEndpoint(8) as endpoint:
        with endpoint_memory(tmp_path, endpoint) as memory:
            memory.add("I like rain", user_id="ada", infer=False)
            found = memory.search("rain", user_id="ada")["results"]
            assert "I like rain" in [item["memory"] for item in found]
            assert any("have 8 numbers now, and 16 in the store" in note for note in memory.components.embedder.notes)
            assert memory.maintenance.verify() == []
        with endpoint_memory(tmp_path, endpoint, strict_embeddings=True) as memory:
            with pytest.raises(EmbeddingError, match="have 8 numbers now, and 16 in the store"):
                memory.add("I like snow", user_id="ada", infer=False)
            assert len(memory.get_all(user_id="ada")["results"]) == 2
    with EmbeddingsEndpoint(16) as endpoint, endpoint_memory(tmp_path, endpoint) as memory:
        memory.add("I like wind", user_id="ada", infer=False)
        assert memory.maintenance.verify() == []


def test_vectors_of_several_lengths_that_an_earlier_version_stored_are_found(tmp_path: Path) -> None:
    with opened(tmp_path, FakeEmbedder(16)) as memory:
        for text in ("I like tea", "I like rain"):
            memory.add(text, user_id="ada", infer=False)
        with closing(sqlite3.connect(tmp_path / "ebbing.db")) as db, db:
            db.execute(
                "UPDATE index_entry SET vector = substr(vector, 1, 16) WHERE mid = (SELECT min(mid) FROM memory)"
            )
        assert memory.maintenance.verify() == ["1 models have vectors of several sizes"]
