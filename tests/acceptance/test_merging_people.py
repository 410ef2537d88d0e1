"""Two users made one, and two again: nothing is lost or doubled, also at ten thousand memories and under kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.domain.errors import ConflictError, IdentityNotFoundError, InvalidInputError
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder

CHILD = Path(__file__).with_name("child_merger.py")
START = datetime(2024, 5, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=FakeEmbedder(), clock=ManualClock(START)) as opened:
        yield opened


def texts(memory: Memory, user: str) -> set[str]:
    found, cursor = set[str](), None
    while True:
        page = memory.get_all(user_id=user, include="all", limit=1_000, cursor=cursor)
        found |= {item["memory"] for item in page["results"]}
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_who_comes_from_two_channels_has_one_memory_after_a_merge(memory: Memory) -> None:
    web, app = memory.identities.resolve("web", "cookie-1"), memory.identities.resolve("app", "device-9")
    assert memory.identities.resolve("web", "cookie-1") == web
    assert web["user_id"] != app["user_id"]
    memory.add("My name is Sam and I'm allergic to peanuts", user_id=web["user_id"])
    memory.add("I live in Berlin", user_id=app["user_id"])
    memory.profiles.update({"preferences": ["jazz"]}, user_id=app["user_id"])
    done = memory.identities.merge(web["user_id"], app["user_id"])
    assert (done["memories"], done["episodes"]) == (2, 1)
    assert memory.identities.resolve("app", "device-9")["user_id"] == web["user_id"]
    profile = memory.profiles.get(user_id=web["user_id"])
    assert profile["summary"] == (
        "User's name is Sam; User is allergic to peanuts; User likes jazz; User lives in Berlin"
    )
    assert memory.profiles.get(user_id=app["user_id"])["stats"]["memories"] == 0
    assert memory.search("Where does Sam live?", user_id=web["user_id"])["results"]

    memory.identities.unmerge(done["id"])
    assert memory.identities.resolve("app", "device-9") == app
    assert memory.profiles.get(user_id=web["user_id"])["summary"] == "User's name is Sam; User is allergic to peanuts"
    parted = memory.profiles.get(user_id=app["user_id"])
    assert parted["summary"] == "User likes jazz; User lives in Berlin"
    assert parted["preferences"][0]["source"] == "user"
    assert memory.maintenance.verify() == []


def test_a_conversation_that_runs_is_remembered_before_the_merge(memory: Memory) -> None:
    memory.add("I love jazz", user_id="ada")
    session = memory.session(user_id="bob", run_id="r")
    session.add("I live in Berlin")
    memory.identities.merge("ada", "bob")
    assert "User lives in Berlin" in texts(memory, "ada")


def test_a_job_that_reads_again_finds_its_messages(memory: Memory) -> None:
    memory.add("I love jazz", user_id="bob")
    found = memory.search("jazz", user_id="bob")["results"]
    memory.identities.merge("ada", "bob")
    [first, *_] = found
    assert memory.explain(first["id"], user_id="ada")["user_id"] == "ada"
    assert memory.feedback(first["id"], "used", user_id="ada")["counted"]


@pytest.mark.slow
def test_ten_thousand_memories_move_and_come_back(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=FakeEmbedder(16), clock=ManualClock(START)) as memory:
        for start in range(0, 10_000, 2_000):
            memory.add(
                [{"role": "user", "content": f"note {n}", "id": f"m{n}"} for n in range(start, start + 2_000)],
                user_id="bob",
                infer=False,
            )
        memory.add("I love jazz", user_id="ada", infer=False)
        began = time.monotonic()
        done = memory.identities.merge("ada", "bob")
        assert done["memories"] == 10_000
        assert len(texts(memory, "ada")) == 10_001
        assert memory.search("note 9999", user_id="ada", top_k=1)["results"][0]["memory"] == "note 9999"
        memory.identities.unmerge(done["id"])
        assert time.monotonic() - began < 30
        assert texts(memory, "ada") == {"I love jazz"}
        assert texts(memory, "bob") == {f"note {n}" for n in range(10_000)}
        assert memory.maintenance.verify() == []


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_the_process_is_killed_at_any_moment(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        for user in ("ada", "bob"):
            memory.identities.resolve("web", f"{user}-name")
            memory.identities.link("app", user, user_id=user)
            memory.add(
                [{"role": "user", "content": f"{user} note {n}", "id": f"m{n}"} for n in range(400)],
                user_id=user,
                infer=False,
            )
            memory.profiles.update({"home": f"the town of {user}"}, user_id=user)
        everything = texts(memory, "ada") | texts(memory, "bob")
        counted = memory.maintenance.stats()["memories"]
    for attempt in range(12):
        child = subprocess.Popen(
            [sys.executable, CHILD, str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"open\n"
            time.sleep(0.013 * attempt)
            child.send_signal(signal.SIGKILL)
        with Memory(tmp_path, embedder="none") as memory:
            assert memory.maintenance.verify() == []
            assert memory.maintenance.stats()["memories"] == counted
            [last, *_] = [*memory.identities.list_merges(limit=1), None]
            is_one = last is not None and last["undone_at"] is None
            assert texts(memory, "ada") | texts(memory, "bob") == everything
            assert bool(texts(memory, "bob")) is not is_one
            if is_one and last is not None:
                memory.identities.unmerge(last["id"])
            for user in ("ada", "bob"):
                assert texts(memory, user) == {text for text in everything if user in text}
                [home] = [one for one in memory.profiles.get(user_id=user)["facts"] if one["key"] == "home"]
                assert (home["value"], home["source"]) == (f"the town of {user}", "user")
                assert memory.identities.resolve("app", user)["user_id"] == user


def test_names_are_listed_in_pages_and_bad_calls_are_refused(memory: Memory) -> None:
    for n in range(3):
        memory.identities.link("web", f"n{n}", user_id="ada")
    first = memory.identities.list(limit=2)
    rest = memory.identities.list(limit=2, cursor=first["next_cursor"])
    assert [one["channel_user_id"] for one in first["identities"] + rest["identities"]] == ["n0", "n1", "n2"]
    assert rest["next_cursor"] is None
    with pytest.raises(ConflictError):
        memory.identities.link("web", "n0", user_id="bob")
    with pytest.raises(IdentityNotFoundError):
        memory.identities.merge("ada", "nobody")
    with pytest.raises(IdentityNotFoundError):
        memory.identities.unmerge(99)
    for call in (
        lambda: memory.identities.resolve(" ", "x"),
        lambda: memory.identities.resolve("web", "x" * 257),
        lambda: memory.identities.merge("ada", "ada"),
        lambda: memory.identities.unmerge(True),
        lambda: memory.identities.list(cursor="5"),
        lambda: memory.identities.list(cursor="{"),
        lambda: memory.identities.list_merges(limit=0),
    ):
        with pytest.raises(InvalidInputError):
            call()
    assert memory.identities.unlink("web", "n0") == {"unlinked": True}
    assert memory.identities.unlink("web", "n0") == {"unlinked": False}
