"""A message that is told again under its id: once if it says the same, edited if it does not, never lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.testing.models.embedder import FakeEmbedder


@pytest.fixture(params=["sqlite", "ephemeral"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with Memory.from_config({"path": tmp_path, "store": request.param, "embedder": "none"}) as opened:
        yield opened


def message(text: str, name: str = "m1", **more: str) -> dict[str, str]:
    return {"role": "user", "content": text, "id": name, **more}


def kept(memory: Memory, include: Any = "memories") -> list[str]:
    return sorted(item["memory"] for item in memory.get_all(user_id="ada", include=include)["results"])


def told(memory: Memory, *messages: dict[str, str], infer: bool = False, **more: Any) -> list[tuple[str, str]]:
    results = memory.add(list(messages), user_id="ada", infer=infer, **more)["results"]
    return [(item["event"], item["memory"]) for item in results]


MOVES = {
    "en": ("I live in Porto.", "I moved to Lisbon.", "Porto"),
    "zh": ("我住在杭州", "我搬到上海了", "杭州"),
}


@pytest.mark.parametrize("language", MOVES)
@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_said_again_after_it_was_over_holds_again(
    memory: Memory, language: str, with_ids: bool, at_once: bool
) -> None:
    before, moved, place = MOVES[language]
    texts = enumerate((before, moved, before))
    messages = [
        {"role": "user", "content": text, **({"id": f"m{number}"} if with_ids else {})} for number, text in texts
    ]
    for part in [messages] if at_once else [[each] for each in messages]:
        memory.add(part, user_id="ada")
    assert [place in text for text in kept(memory)] == [True]
    if with_ids:
        assert {event for event, _ in told(memory, *messages, infer=True)} == {"NONE"}
        assert [place in text for text in kept(memory)] == [True]


# ── stored as it is ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_raw_message_that_is_told_again_changes_nothing(memory: Memory) -> None:
    assert told(memory, message("likes tea")) == [("ADD", "likes tea")]
    assert told(memory, message("likes tea")) == [("NONE", "likes tea")]
    assert kept(memory) == ["likes tea"]


def test_an_edited_raw_message_edits_its_memory(memory: Memory) -> None:
    [added] = memory.add(message("likes tea"), user_id="ada", infer=False)["results"]
    [edited] = memory.add(message("likes coffee"), user_id="ada", infer=False)["results"]
    assert (edited["event"], edited["id"]) == ("UPDATE", added["id"])
    assert kept(memory) == ["likes coffee"]
    assert [entry["event"] for entry in memory.history(added["id"])] == ["ADD", "UPDATE"]
    assert memory.search("coffee", user_id="ada")["results"][0]["id"] == added["id"]
    assert "edited" in memory.history(added["id"])[-1]["reason"]
    assert memory.maintenance.verify() == []


def test_an_edited_raw_message_keeps_its_day_and_takes_new_metadata(memory: Memory) -> None:
    day = "2026-01-02T03:04:05+00:00"
    memory.add(message("likes tea", timestamp=day), user_id="ada", infer=False, metadata={"a": 1})
    memory.add(message("likes coffee"), user_id="ada", infer=False)
    [item] = memory.get_all(user_id="ada")["results"]
    assert (item["created_at"], item["metadata"]) == (day, {"a": 1})
    memory.add(message("likes cocoa"), user_id="ada", infer=False, metadata={"b": 2})
    assert memory.get_all(user_id="ada")["results"][0]["metadata"] == {"b": 2}


def test_a_long_message_may_grow_and_shrink(memory: Memory) -> None:
    long = " ".join(f"This is sentence number {number}." for number in range(300))
    assert {event for event, _ in told(memory, message(long))} == {"ADD"}
    parts = len(kept(memory))
    assert parts > 1
    changed = long.replace("number 0.", "number nought.")
    assert [event for event, _ in told(memory, message(changed))] == ["UPDATE"]
    assert len(kept(memory)) == parts
    assert told(memory, message("short now")) == [("UPDATE", "short now")]
    assert kept(memory) == ["short now"]
    assert {event for event, _ in told(memory, message(long))} == {"UPDATE", "ADD"}
    assert " ".join(sorted(kept(memory), key=long.index)) == long
    assert memory.maintenance.verify() == []


def test_what_was_put_right_by_hand_stays_unless_the_message_says_something_new(memory: Memory) -> None:
    [added] = memory.add(message("likes tae"), user_id="ada", infer=False)["results"]
    memory.update(added["id"], "likes tea")
    assert told(memory, message("likes tae")) == [("NONE", "likes tea")]
    assert told(memory, message("likes coffee")) == [("UPDATE", "likes coffee")]


def test_the_same_id_in_another_run_or_of_another_user_is_another_message(memory: Memory) -> None:
    told(memory, message("likes tea"))
    assert told(memory, message("likes coffee"), run_id="monday") == [("ADD", "likes coffee")]
    memory.add(message("likes rain"), user_id="bob", infer=False)
    assert kept(memory) == ["likes coffee", "likes tea"]


def test_a_deleted_raw_message_may_be_told_anew(memory: Memory) -> None:
    [added] = memory.add(message("likes tea"), user_id="ada", infer=False)["results"]
    memory.delete(added["id"])
    assert told(memory, message("likes coffee")) == [("ADD", "likes coffee")]


def test_what_was_concluded_from_a_message_follows_when_it_is_edited_as_it_is(memory: Memory) -> None:
    memory.add(message("I live in Leeds."), user_id="ada")
    assert told(memory, message("I live in York."))[0][0] == "ADD"
    assert kept(memory) == ["I live in York."]
    assert kept(memory, "episodes") == []


# ── one id, several texts, one call ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("infer", [True, False])
def test_of_two_texts_for_one_id_in_one_call_the_later_puts_the_earlier_right(memory: Memory, infer: bool) -> None:
    memory.add([message("I live in Leeds."), message("I live in York.")], user_id="ada", infer=infer)
    together = [text for text in kept(memory, "all") if "York" in text]
    assert together
    assert not [text for text in kept(memory, "all") if "Leeds" in text]
    assert memory.maintenance.verify() == []


@pytest.mark.parametrize("infer", [True, False])
def test_one_call_is_the_same_as_several(tmp_path: Path, infer: bool) -> None:
    messages = [
        message("I live in Leeds."),
        message("I have a cat.", "m2"),
        message("I live in Leeds."),
        message("I live in York."),
        message("I have two cats.", "m2"),
        message("I like rain.", "m3"),
    ]
    left = []
    for name, calls in (("once", [messages]), ("each", [[one] for one in messages])):
        with Memory(tmp_path / name, embedder=FakeEmbedder()) as memory:
            for call in calls:
                memory.add(call, user_id="ada", infer=infer)
            left.append(kept(memory, "all"))
    assert left[0] == left[1]
    assert any("York" in text for text in left[0])


def test_messages_without_ids_are_never_taken_for_one_another(memory: Memory) -> None:
    texts = [{"role": "user", "content": text} for text in ("likes tea", "likes coffee", "likes tea")]
    assert [event for event, _ in told(memory, *texts)] == ["ADD", "ADD", "ADD"]
