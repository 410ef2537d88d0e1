"""Forgetting by asking: first it is shown, then just that is deleted, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import ConflictError, InvalidInputError, MissingOwnerError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.text_compression import pack
from ebbing.ports.stores.memory_store import Change, Insert, Revise
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite", "ephemeral"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    config = {"path": tmp_path, "store": request.param, "embedder": "none"}
    with Memory.from_config(config, clock=clock) as opened:
        yield opened


def said(memory: Memory, *texts: str, user: str = "ada", **more: Any) -> None:
    for text in texts:
        memory.add(text, user_id=user, **more)


def texts(memory: Memory, user: str = "ada") -> list[str]:
    return sorted(item["memory"] for item in memory.get_all(user_id=user, include="all", limit=1_000)["results"])


def shown(found: dict[str, Any]) -> list[str]:
    return sorted(item["memory"] for item in found["candidates"])


def test_what_was_said_about_a_topic_is_shown_and_then_forgotten(memory: Memory) -> None:
    said(memory, "我喜欢看科幻电影", "我对花生过敏", "My favourite movie is Arrival.", "I moved to Leeds last week.")
    before = texts(memory)
    found = memory.forget("忘记我说过的关于电影的内容", user_id="ada")
    assert found["about"] == ["电影"]
    assert len(found["candidates"]) == len([text for text in before if "电影" in text or "ovie" in text])
    assert all(item["why"].startswith(("it says", "it is the message", "it gives")) for item in found["candidates"])
    assert texts(memory) == before, "nothing is changed by asking"
    done = memory.forget(confirm=found["confirm"], user_id="ada")
    assert sorted(done["forgotten"]) == sorted(item["id"] for item in found["candidates"])
    assert done["memories"] + done["episodes"] == len(found["candidates"])
    left = texts(memory)
    assert not [text for text in left if "电影" in text or "movie" in text]
    assert any("花生" in text for text in left)
    assert any("Leeds" in text for text in left)
    assert memory.search("电影", user_id="ada")["results"] == [] or all(
        "电影" not in hit["memory"] for hit in memory.search("电影", user_id="ada")["results"]
    )
    assert memory.maintenance.verify() == []


def test_what_is_forgotten_softly_says_why_and_can_be_brought_back(memory: Memory) -> None:
    said(memory, "My ex Tom still has my records.", infer=False)
    found = memory.forget("forget what I said about my ex", user_id="ada")
    [gone] = memory.forget(confirm=found["confirm"], user_id="ada", reason="she asked")["forgotten"]
    assert memory.get(gone) is None
    assert memory.explain(gone)["delete_reason"] == "she asked"
    assert memory.restore(gone)["memory"] == "My ex Tom still has my records."


def test_what_is_forgotten_for_good_leaves_nothing(memory: Memory, tmp_path: Path) -> None:
    said(memory, "My quokkaberry allergy is getting worse.", "quokkaberry jam is what I miss", "I like rain.")
    memory.delete(memory.get_all(user_id="ada", include="episodes")["results"][-1]["id"])
    found = memory.forget("quokkaberry", user_id="ada", hard=True)
    assert any("deleted_at" in item for item in found["candidates"]), "what is deleted already goes for good as well"
    done = memory.forget(confirm=found["confirm"], user_id="ada", hard=True)
    assert done["hard"]
    assert done["scrubbed"]
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"quokkaberry" in file.read_bytes()]
    assert "quokkaberry" not in str(memory.export(user_id="ada"))
    assert [text for text in texts(memory) if "rain" in text]


def test_what_was_superseded_expired_or_reworded_is_found_too(memory: Memory, clock: ManualClock) -> None:
    said(memory, "I live in Zemblaville.")
    clock.advance(DAY)
    said(memory, "I moved to Leeds, I live in Leeds now.")
    [jam] = memory.add("I like zemblaville jam", user_id="ada", infer=False)["results"]
    memory.update(jam["id"], "I like plum jam")
    found = memory.forget("zemblaville", user_id="ada")
    assert jam["id"] in {item["id"] for item in found["candidates"]}
    assert "an earlier wording" in next(item["why"] for item in found["candidates"] if item["id"] == jam["id"])
    assert "zemblaville" in " ".join(shown(found)).lower()
    memory.forget(confirm=found["confirm"], user_id="ada", hard=True)
    assert "emblaville" not in str(memory.export(user_id="ada"))


def test_the_messages_behind_a_memory_go_with_it(memory: Memory) -> None:
    memory.add({"role": "user", "content": "I work at Globex as a nurse.", "id": "m1"}, user_id="ada")
    found = memory.forget("Globex", user_id="ada")
    assert {item["kind"] for item in found["candidates"]} == {"memory", "episode"}
    memory.forget(confirm=found["confirm"], user_id="ada")
    assert texts(memory) == []


def test_another_users_rows_are_never_shown_nor_touched(memory: Memory) -> None:
    said(memory, "My ex Tom is in Oslo.", infer=False)
    said(memory, "My ex Ann is in Rome.", user="bob", infer=False)
    found = memory.forget("my ex", user_id="ada")
    assert shown(found) == ["My ex Tom is in Oslo."]
    bobs = memory.forget("my ex", user_id="bob")
    for scope in ({"user_id": "bob"}, {"user_id": "ada", "agent_id": "x"}, {"user_id": "ada", "run_id": "r"}):
        with pytest.raises(InvalidInputError, match="ask again"):
            memory.forget(confirm=found["confirm"], **scope)
    with pytest.raises(InvalidInputError, match="neither"):
        memory.forget(confirm=found["confirm"], user_id="ada", also=[bobs["candidates"][0]["id"]])
    memory.forget(confirm=found["confirm"], user_id="ada", hard=True)
    assert texts(memory, "bob") == ["My ex Ann is in Rome."]
    with pytest.raises(MissingOwnerError):
        memory.forget("my ex")


def test_a_run_or_agent_narrows_what_is_forgotten(memory: Memory) -> None:
    said(memory, "My ex called.", infer=False)
    said(memory, "My ex wrote.", run_id="monday", infer=False)
    found = memory.forget("my ex", user_id="ada", run_id="monday")
    assert shown(found) == ["My ex wrote."]
    memory.forget(confirm=found["confirm"], user_id="ada", run_id="monday")
    assert texts(memory) == ["My ex called."]


@pytest.mark.parametrize("token", ["", "x", "00000000-0000-7000-8000-000000000000", "\ud800", 7, "a" * 10_000])
def test_a_token_that_was_never_given_out_confirms_nothing(memory: Memory, token: Any) -> None:
    said(memory, "My ex called.", infer=False)
    with pytest.raises(InvalidInputError):
        memory.forget(confirm=token, user_id="ada")
    assert texts(memory) == ["My ex called."]


def test_a_token_counts_once_and_not_for_ever(memory: Memory, clock: ManualClock) -> None:
    said(memory, "My ex called.", infer=False)
    late = memory.forget("my ex", user_id="ada")["confirm"]
    clock.advance(timedelta(hours=1, seconds=1))
    with pytest.raises(InvalidInputError, match="ask again"):
        memory.forget(confirm=late, user_id="ada")
    token = memory.forget("my ex", user_id="ada")["confirm"]
    [gone] = memory.forget(confirm=token, user_id="ada")["forgotten"]
    memory.restore(gone)
    with pytest.raises(InvalidInputError, match="ask again"):
        memory.forget(confirm=token, user_id="ada")
    assert texts(memory) == ["My ex called."]


def test_a_memory_that_was_edited_since_it_was_shown_stops_everything(memory: Memory) -> None:
    said(memory, "My ex called.", "My ex wrote.", infer=False)
    found = memory.forget("my ex", user_id="ada")
    memory.update(found["candidates"][0]["id"], "My dentist called.")
    with pytest.raises(ConflictError, match="ask again"):
        memory.forget(confirm=found["confirm"], user_id="ada")
    assert len(texts(memory)) == 2


def test_what_is_said_after_it_was_shown_stays_and_what_is_gone_by_then_is_no_matter(memory: Memory) -> None:
    said(memory, "My ex called.", "My ex wrote.", infer=False)
    found = memory.forget("my ex", user_id="ada")
    memory.delete(found["candidates"][0]["id"], hard=False)
    said(memory, "My ex came by.", infer=False)
    memory.feedback(found["candidates"][1]["id"], "used")  # book-keeping is no edit
    done = memory.forget(confirm=found["confirm"], user_id="ada")
    assert done["forgotten"] == [found["candidates"][1]["id"]]
    assert texts(memory) == ["My ex came by."]


def test_some_of_it_can_be_kept(memory: Memory) -> None:
    said(memory, "My ex called.", "My ex still feeds my cat.", infer=False)
    found = memory.forget("my ex", user_id="ada")
    stays = next(item["id"] for item in found["candidates"] if "cat" in item["memory"])
    memory.forget(confirm=found["confirm"], user_id="ada", keep=[stays])
    assert texts(memory) == ["My ex still feeds my cat."]


def test_exceptions_times_and_speakers_are_heeded(memory: Memory, clock: ManualClock) -> None:
    said(memory, "Titanic is a movie that I love.", "I hate horror movies.", infer=False)
    found = memory.forget("forget what I said about movies except Titanic", user_id="ada")
    assert shown(found) == ["I hate horror movies."]
    clock.advance(DAY)
    said(memory, "The movie yesterday was long.", infer=False)
    assert shown(memory.forget("forget what I said today about movies", user_id="ada")) == [
        "The movie yesterday was long."
    ]
    assert shown(memory.forget("把我今天说的都忘了", user_id="ada")) == ["The movie yesterday was long."]
    memory.add([{"role": "assistant", "content": "You may like the movie Arrival."}], user_id="ada", infer=False)
    assert shown(memory.forget("forget what you said about movies", user_id="ada")) == [
        "You may like the movie Arrival."
    ]
    assert len(memory.forget("forget what I said about movies", user_id="ada")["candidates"]) == 4


def test_a_list_that_nobody_said_as_a_whole_counts_as_each_of_its_parts(memory: Memory) -> None:
    said(memory, "I have two cats.", "Dogs make me sneeze.", "I like rain.", infer=False)
    found = memory.forget("forget cats and dogs", user_id="ada")
    assert shown(found) == ["Dogs make me sneeze.", "I have two cats."]
    assert found["about"] == ["cats", "dogs"]


def test_nothing_is_asked_to_be_confirmed_where_nothing_was_found(memory: Memory) -> None:
    said(memory, "I like rain.", infer=False)
    found = memory.forget("forget what I said about my divorce", user_id="ada")
    assert (found["candidates"], found["perhaps"], found["confirm"]) == ([], [], None)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, InvalidInputError),
        ({"about": "  "}, InvalidInputError),
        ({"about": 7}, InvalidInputError),
        ({"about": "forget everything"}, InvalidInputError),
        ({"about": "don't forget my mum's birthday"}, InvalidInputError),
        ({"about": "x", "confirm": "y"}, InvalidInputError),
        ({"about": "my ex", "keep": ["a"]}, InvalidInputError),
        ({"about": "my ex", "hard": "yes"}, InvalidInputError),
        ({"about": "my ex", "softly": True}, TypeError),
    ],
)
def test_a_call_that_makes_no_sense_changes_nothing(
    memory: Memory, arguments: dict[str, Any], error: type[Exception]
) -> None:
    said(memory, "My ex called.", infer=False)
    with pytest.raises(error):
        memory.forget(**arguments, user_id="ada")
    assert texts(memory) == ["My ex called."]


def test_running_sessions_forget_as_well_before_they_are_remembered(memory: Memory) -> None:
    with memory.session(user_id="ada", run_id="now") as session:
        session.add("My ex called me today.")
        session.add("I like rain.")
        with memory.session(user_id="bob") as other:
            other.add("My ex called me too.")
            found = memory.forget("forget what I said about my ex", user_id="ada")
            assert [(item["kind"], item["memory"]) for item in found["candidates"]] == [
                ("working", "My ex called me today.")
            ]
            done = memory.forget(confirm=found["confirm"], user_id="ada")
            assert done["turns"] == 1
            assert [one["content"] for one in session.messages()] == ["I like rain."]
    assert not [text for text in texts(memory) if "ex" in text.split()]
    assert any("ex" in text for text in texts(memory, "bob"))


def test_an_erasure_in_between_takes_the_question_with_it(memory: Memory) -> None:
    said(memory, "My ex called.", infer=False)
    token = memory.forget("my ex", user_id="ada")["confirm"]
    memory.delete_all(user_id="ada")
    said(memory, "My ex called.", infer=False)
    with pytest.raises(InvalidInputError, match="ask again"):
        memory.forget(confirm=token, user_id="ada")


def test_what_comes_near_in_meaning_alone_stays_unless_it_is_named(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=FakeEmbedder()) as memory:
        said(memory, "I keep bees.", "The beehives need a new roof.", "I like rain.", infer=False)
        found = memory.forget("beekeeping", user_id="ada")
        assert found["candidates"] == []
        assert found["perhaps"], "letters in common are the fake's meaning"
        [near] = [item["id"] for item in found["perhaps"] if item["memory"] == "I keep bees."]
        assert memory.forget(confirm=found["confirm"], user_id="ada", also=[near])["forgotten"] == [near]
        assert "I keep bees." not in texts(memory)
        assert len(texts(memory)) == 2


def test_what_faded_is_found_by_its_full_text(memory: Memory) -> None:
    [kept] = memory.add("My ex Tom still has my records.", user_id="ada", infer=False)["results"]
    ada, store = Scope(user_id="ada"), memory.components.store
    [record] = memory._run(lambda: store.get(ada, [kept["id"]]))
    short = replace(record, version=2, content="records", stage=Stage.SHORTENED, packed=pack(record.content))
    memory._run(lambda: store.write(ada, [Revise(short, Event.NONE)]))
    found = memory.forget("my ex", user_id="ada")
    assert shown(found) == ["records"]
    assert memory.forget(confirm=found["confirm"], user_id="ada")["forgotten"] == [kept["id"]]


def test_a_merged_memory_goes_with_what_it_was_merged_from_and_others_get_their_voice_back(memory: Memory) -> None:

    ada, now = Scope(user_id="ada"), memory.components.clock.now()
    store = memory.components.store
    parts = [MemoryRecord(f"p{at}", ada, text, now, now) for at, text in enumerate(("bought a latte", "bought plums"))]
    teller = MemoryRecord(
        "t", ada, "bought coffee and fruit", now, now, is_compressed=True, compression_sources=("p0", "p1")
    )
    retired = [replace(one, version=2, retired_at=now, superseded_by="t") for one in parts]
    changes: list[Change] = [*(Insert(one, None) for one in parts), Insert(teller, None)]
    memory._run(lambda: store.write(ada, changes))
    memory._run(lambda: store.write(ada, [Revise(one, Event.MERGE) for one in retired]))
    found = memory.forget("latte", user_id="ada")
    assert shown(found) == ["bought a latte"]
    memory.forget(confirm=found["confirm"], user_id="ada")
    assert texts(memory) == ["bought plums"], "what told both is gone, and the other tells for itself again"
