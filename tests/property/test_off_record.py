"""Whatever is told in private, the store stays as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.domain.memory.scope import Scope
from ebbing.testing.models.embedder import FakeEmbedder
from tests.acceptance.traces import files
from tests.examples import examples

TEXT = st.text(min_size=1, max_size=120).filter(lambda text: text.replace("\x00", "").strip())
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": TEXT},
    optional={"name": st.text("abc 我", max_size=9), "id": st.text("abc", min_size=1, max_size=5)},
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=FakeEmbedder()) as memory:
        memory.add("I live in Leeds and I like tea.", user_id="ada")
        memory.search("tea", user_id="ada")
        memory._run(memory.components.usage.flush)
        yield memory


def state(memory: Memory) -> tuple[list[str], int]:
    """Everything in the files of the store, and the generation of the owner's rows."""
    shard = memory._run(lambda: memory.components.store.shard(Scope(user_id="ada")))
    rows: list[str] = []
    for file in files(memory.components.settings.path):
        if file.suffix == ".db":
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
                rows += db.iterdump()
    return rows, shard.generation


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40))
@given(
    st.one_of(TEXT, MESSAGE, st.lists(MESSAGE, min_size=1, max_size=4)),
    st.fixed_dictionaries(
        {"infer": st.booleans()},
        optional={
            "metadata": st.just({"note": "x"}),
            "run_id": st.just("r"),
            "tags": st.just(["fact"]),
            "trust": st.sampled_from(["user", "document"]),
        },
    ),
)
def test_an_add_in_private_changes_nothing_in_the_store(memory: Memory, messages: Any, options: Any) -> None:
    before = state(memory)
    told = memory.add(messages, user_id="ada", private=True, **options)
    assert {(one["id"], one["memory"], one["event"]) for one in told["results"]} <= {(None, "", "NONE")}
    assert told["episode_ids"] == []
    later = memory.enqueue_add(messages, user_id="ada", private=True, **options)
    assert later["job_id"] is None
    assert state(memory) == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(25))
@given(st.lists(MESSAGE, min_size=1, max_size=12), TEXT)
def test_a_private_session_changes_nothing_in_the_store(memory: Memory, messages: Any, question: str) -> None:
    before = state(memory)
    session = memory.session(user_id="ada", private=True)
    for message in messages:
        session.add(message)
    session.search(question)
    session.get_context(question)
    session.search("tea")
    assert session.end()
    memory._run(memory.components.usage.flush)
    assert state(memory) == before
    assert not session.private
