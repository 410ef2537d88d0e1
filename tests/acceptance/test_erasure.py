"""Whoever asks to be forgotten is: every file of the directory is searched for what they said, byte by byte."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory, Memory
from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import ModelUnavailableError
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.language.text.caches import _CACHES, BoundedCache
from ebbing.language.text.text_compression import pack
from ebbing.ports.models.embedder import Vectors
from ebbing.ports.stores.memory_store import Erase, Insert
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.acceptance.traces import files, packed_in, traces, vector_of

ADA = "ada-vermillionette"
WORDS = (
    *(ADA, "quokkaberry", "蘩漪湖", "鼹鼠茶馆", "zemblavian", "Thrumwick", "msg-glimmering", "run-flummoxed"),
    *(
        "tag-wobblesome",
        "metafrazzled",
        "becausewhimsy",
        "feedbackgrumble",
        "turnsquiggle",
        "requestmumble",
        "answermumble",
        "edithobble",
        "channelfumble",
        "mergetumble",
        "packlewhistle",
    ),
)
TEXTS = ("I love quokkaberry jam", "周末去蘩漪湖划船", "常去的鼹鼠茶馆关门了")
PACKED = "The packlewhistle festival was the best day of the summer."
METADATA = {"note": "metafrazzled"}
KEPT_TABLES = frozenset(
    {"act", "api_key", "model", "outbox_consumer", "place_of_history", "sqlite_sequence", "unscrubbed", "webhook"}
)
"""What belongs to whoever runs the memory: models, followers, keys, hooks, acts, what is to be overwritten."""
CHILD = Path(__file__).with_name("child_reader.py")


def opened(path: Path, **options: Any) -> Memory:
    """A memory that fills every table: with a model that never answers, and somebody who follows the outbox."""
    settings = load_settings({"path": path, "usage_flush_size": 1, **options})
    down = ScriptedChatModel(ModelUnavailableError("down"))
    embedder = CachingEmbedder(FakeEmbedder())
    return Memory(components=build(settings, embedder=embedder, chat_model=down, clock=ManualClock()))


def live(memory: Memory, user: str = ADA) -> list[str]:
    """A life in which every word lands somewhere else; returns ids of memories that it left."""
    ids = [
        memory.add(text, user_id=user, infer=False, metadata=METADATA, source_id=f"msg-glimmering-{at}")["results"][0][
            "id"
        ]
        for at, text in enumerate((*TEXTS, *("word " * size for size in range(9, 400, 23))))
    ]
    memory.add(
        [{"role": "user", "content": "I moved to zemblavian hills, call me Thrumwick", "name": "Thrumwick"}],
        user_id=user,
        run_id="run-flummoxed",
    )
    memory.update(ids[0], "I love quokkaberry jam and quokkaberry tea", metadata={"tag": "tag-wobblesome"})
    memory.delete(ids[1], reason="becausewhimsy")
    found = memory.search("quokkaberry?", user_id=user)
    memory.feedback(ids[0], "used", recall_id=found["recall_id"], reason="feedbackgrumble")
    memory.profiles.set_defaults({"tone": "whatever the house likes"})
    store = memory.components.store
    memory._run(lambda: store.profiles.change_settings("default", {"custom_instructions": "answer briefly"}))
    memory.profiles.update({"home": "edithobble heights"}, user_id=user)
    memory.identities.link("web", f"channelfumble of {user}", user_id=user)
    memory.identities.link("app", "device", user_id=f"mergetumble {user}")
    memory.identities.merge(user, f"mergetumble {user}")
    session = memory.session(user_id=user, run_id="run-flummoxed-2")
    session.add("turnsquiggle is what I said last")
    memory._run(lambda: _keep_beside(memory, Scope(user_id=user)))
    return ids


async def _keep_beside(memory: Memory, scope: Scope) -> None:
    """What the service and the upkeep note of somebody."""
    store, now = memory.components.store, memory.components.clock.now()
    faded = MemoryRecord(
        f"faded of {scope.user_id}", scope, "short", now, now, packed=pack(PACKED), stage=Stage.SHORTENED
    )
    await store.write(scope, [Insert(faded, entry_for(analyse(PACKED, said_at=now)))])
    await store.set_mark(scope, "consolidate", value=7)
    request = KeptRequest(
        "default", "app", "key-1", "digest", now, now, belongs_to=scope, body='{"text": "requestmumble"}'
    )
    await store.requests.begin(request)
    answered = replace(request, key="key-2", body=None)
    await store.requests.begin(answered)
    await store.requests.finish(answered, status=200, answer='{"memory": "answermumble"}', belongs_to=scope)


def live_beside(memory: Memory) -> None:
    """Somebody else, whose pages lie between."""
    for size in range(1, 200, 7):
        memory.add(f"bob likes word {size} " * size, user_id="bob", infer=False, source_id=f"b{size}")


def left(directory: Path, words: tuple[str, ...] = WORDS, *, texts: tuple[str, ...] = TEXTS) -> list[str]:
    """Traces of the words, and of the vectors of the texts."""
    found = traces(directory, words)
    for file in files(directory):
        if file.suffix == ".db":
            found += packed_in(file, words)
    if PACKED.split()[1] in words:
        found += [f"{file.name}: packed as a whole" for file in files(directory) if pack(PACKED) in file.read_bytes()]
    vectors = [vector_of(FakeEmbedder(), text) for text in texts]
    return found + [f"{file.name}: a vector" for file in files(directory) if any(map(file.read_bytes().count, vectors))]


def tables(directory: Path) -> dict[str, int]:
    """Rows of every table of every file of the store."""
    counts: dict[str, int] = {}
    for file in files(directory):
        if file.suffix != ".db":
            continue
        with closing(sqlite3.connect(file)) as db:
            names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            counts |= {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    return counts


def soon(holds: Any, seconds: float = 20.0) -> bool:
    give_up = time.monotonic() + seconds
    while not holds() and time.monotonic() < give_up:
        time.sleep(0.2)
    return bool(holds())


@contextmanager
def reader(directory: Path, user: str) -> Iterator[Any]:
    """Another process with the memory open; `tell(command)` gives it one and returns what it says."""
    command = [sys.executable, str(CHILD), str(directory), user]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def tell(command: str) -> int:
            print(command, file=child.stdin, flush=True)
            return int(child.stdout.readline())

        assert int(child.stdout.readline()) > 0
        yield tell
        child.stdin.close()


@pytest.mark.extended
@pytest.mark.parametrize("history", [None, "past/history.db"])
def test_nothing_that_somebody_said_is_left_when_everything_of_them_is_erased(
    tmp_path: Path, history: str | None
) -> None:
    with opened(tmp_path, history_path=tmp_path / history if history else None) as memory:
        live(memory)
        live_beside(memory)
        found = " ".join(left(tmp_path))
        assert [word for word in WORDS if word not in found] == ["turnsquiggle"]
        assert "memory.packed" in found
        assert "packed as a whole" in found
        assert "a vector" in found
        assert "hash" in found
        with reader(tmp_path, "bob"):
            receipt = memory.delete_all(user_id=ADA)
            assert receipt["scrubbed"]
            assert left(tmp_path) == []
        gone = receipt["deleted"]
        assert (gone["memories"], gone["episodes"], gone["turns"], gone["jobs"]) == (23, 1, 1, 1)
        assert min(gone.values()) > 0, gone
        assert memory.search("quokkaberry", user_id=ADA)["results"] == []
        assert len(memory.get_all(user_id="bob")["results"]) == 29
        assert memory.maintenance.verify() == []
    assert left(tmp_path) == []


def test_a_reset_empties_every_table(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        store = memory.components.store
        assert isinstance(store, SqliteMemoryStore)
        memory._run(lambda: store.outbox.register("follower"))
        live(memory)
        assert {name for name, rows in tables(tmp_path).items() if not rows} <= KEPT_TABLES | {"staged_write"}
        receipt = memory.reset()
        assert receipt["deleted"]["memories"] > 20
        memory._run(lambda: store.outbox.unregister("follower"))
        assert {name for name, rows in tables(tmp_path).items() if rows} <= KEPT_TABLES
    assert left(tmp_path) == []


def test_nothing_is_left_of_one_memory_that_is_erased(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        live_beside(memory)
        ids = live(memory)
        gone = memory.delete(ids[0], hard=True)
        assert gone["scrubbed"]
        assert (
            left(tmp_path, ("quokkaberry", "tag-wobblesome", "feedbackgrumble", "msg-glimmering-0"), texts=TEXTS[:1])
            == []
        )
        assert left(tmp_path, ("鼹鼠茶馆",))
        assert memory.maintenance.verify() == []


@pytest.mark.extended
def test_a_reader_of_another_process_delays_the_overwriting_and_is_told_of(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        live(memory)
        live_beside(memory)
        with reader(tmp_path, ADA) as tell:
            tell("hold")
            began = time.monotonic()
            receipt = memory.delete_all(user_id=ADA)
            assert time.monotonic() - began < 8, "nobody else could write meanwhile"
            assert not receipt["scrubbed"]
            assert not memory.maintenance.stats()["is_scrubbed"]
            assert "erasure" in {one["part"] for one in memory.maintenance.diagnose()["findings"]}
            assert memory.add("bob goes on", user_id="bob", infer=False)["results"]
            assert tell("release") == 0, "the other process sees that all of it is gone"
            assert soon(lambda: memory.maintenance.stats()["is_scrubbed"])
            assert left(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from ebbing.adapters.sqlite.connection.scrubbing import Scrubber
from tests.acceptance.test_erasure import ADA, live, live_beside, opened

with opened(Path(sys.argv[1])) as memory:
    live_beside(memory)
    live(memory)
    Scrubber.attempt = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    memory.delete_all(user_id=ADA)
"""


@pytest.mark.extended
def test_what_a_killed_process_left_on_the_disk_is_overwritten_by_the_next(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -9
    with Memory(tmp_path, embedder=FakeEmbedder()) as memory:
        assert memory.search("quokkaberry", user_id=ADA)["results"] == []
        assert soon(lambda: memory.maintenance.stats()["is_scrubbed"])
        assert left(tmp_path) == []


def test_many_erasures_in_a_row_rewrite_the_file_once(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        ids = live(memory)
        store, statements = memory.components.store, list[str]()
        assert isinstance(store, SqliteMemoryStore)
        store._connections.writer.set_trace_callback(statements.append)
        for memory_id in ids[2:12]:
            memory._run(lambda memory_id=memory_id: _erase(store, memory_id))
        assert sum(statement.startswith("VACUUM") for statement in statements) == 0
        assert soon(lambda: memory.maintenance.stats()["is_scrubbed"])
        assert sum(statement.startswith("VACUUM") for statement in statements) == 1
        store._connections.writer.set_trace_callback(None)
        assert left(tmp_path, ("鼹鼠茶馆",), texts=TEXTS[2:]) == []


async def _erase(store: SqliteMemoryStore, memory_id: str) -> None:
    scope = await store.scope_of("default", memory_id)
    assert scope is not None
    await store.write(scope, [Erase(memory_id)])


def test_the_caches_of_the_process_let_go_of_words_and_vectors(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        live(memory)
        analyse("quokkaberry")
        beside = BoundedCache[str, str](8)
        beside.keep("quokkaberry", "quokkaberry")
        embedder = memory._run(memory.components.embedder.get)
        assert isinstance(embedder, CachingEmbedder)
        assert _kept_in_ram() > 0
        assert embedder._vectors
        memory.delete_all(user_id=ADA)
        assert _kept_in_ram() == len(beside) == len(embedder._vectors) == 0


def _kept_in_ram() -> int:
    return sum(len(one) if isinstance(one, BoundedCache) else one.cache_info().currsize for one in _CACHES)


class SlowEmbedder(FakeEmbedder):
    """Takes its time with what is stored."""

    async def embed_passages(self, texts: Any) -> Vectors:
        await asyncio.sleep(0.5)
        return await super().embed_passages(texts)


@pytest.mark.anyio
async def test_what_is_on_its_way_from_a_session_does_not_come_back_after_the_erasure(tmp_path: Path) -> None:
    clock = ManualClock()
    async with AsyncMemory(tmp_path, embedder=SlowEmbedder(), clock=clock) as memory:
        session = memory.session(user_id=ADA)
        await session.add("turnsquiggle is what I said last")
        ending = asyncio.create_task(session.end())
        await asyncio.sleep(0.1)
        other = memory.session(user_id=ADA, run_id="idle")
        await other.add("quokkaberry is what I said here")
        clock.advance(timedelta(hours=2))
        await memory.session(user_id="bob").add("this ends the idle one in the background")
        await asyncio.sleep(0.1)
        receipt = await memory.delete_all(user_id=ADA)
        await ending
        assert receipt["deleted"]["turns"] + receipt["deleted"]["episodes"] >= 2
        await asyncio.sleep(0.8)
        assert (await memory.get_all(user_id=ADA, include="all"))["results"] == []
    assert left(tmp_path) == []
