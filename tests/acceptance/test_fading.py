"""What is of no use fades, stage by stage, and comes back when it is asked for; what matters stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

Opened = Callable[..., Memory]
SMALL_TALK = "Today we talked about the weather in city {}, it was rather fine and a little windy I think."


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    memories: list[Memory] = []

    def open_memory(*, embeds: bool = True, **settings: Any) -> Memory:
        chosen = load_settings({"path": tmp_path / f"store{len(memories)}", "embedder": "none", **settings})
        embedder = FakeEmbedder() if embeds else None
        clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        memories.append(Memory(components=build(chosen, embedder=embedder, clock=clock)))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


def talked(memory: Memory, *, times: int = 30) -> Memory:
    memory.add(["My name is Emma.", "I am allergic to peanuts."], user_id="emma")
    for number in range(times):
        memory.add(SMALL_TALK.format(number), user_id="emma", infer=False)
    return memory


def texts(memory: Memory, **more: Any) -> list[str]:
    return [item["memory"] for item in memory.get_all(user_id="emma", include="all", limit=1_000, **more)["results"]]


def size(memory: Memory) -> int:
    return sum(len(text.encode()) for text in texts(memory))


def test_who_somebody_is_and_what_harms_them_never_fades(opened: Opened) -> None:
    memory = talked(opened(owner_text_limit_bytes=300))
    for year in range(2027, 2040):
        memory.maintenance.run(user_id="emma", now=f"{year}-01-01")
    assert {"User's name is Emma", "User is allergic to peanuts"} <= set(texts(memory))
    assert memory.search("peanuts", user_id="emma")["results"][0]["memory"] == "User is allergic to peanuts"
    assert memory.maintenance.verify() == []


@pytest.mark.parametrize("curve", ["power", "exponential"])
def test_what_outgrows_its_room_is_shortened_until_it_fits(opened: Opened, curve: str) -> None:
    memory = talked(opened(owner_text_limit_bytes=800, forgetting_curve=curve))
    assert size(memory) > 2_000
    memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-01")
    assert size(memory) <= 800
    assert memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-01")["decayed"] == 0


def test_while_there_is_room_time_takes_the_vector_and_no_word(opened: Opened) -> None:
    memory = talked(opened())
    before = texts(memory)
    assert memory.maintenance.apply_forgetting(user_id="emma", now="2036-01-01")["decayed"] > 0
    assert texts(memory) == before
    assert "keyword_only" in {item.get("stage") for item in memory.get_all(user_id="emma")["results"]}
    found = memory.search("weather in city 7", user_id="emma", reference_date="2036-01-01")["results"]
    assert SMALL_TALK.format(7) in {item["memory"] for item in found}


def test_without_a_limit_time_packs_what_was_of_no_use_and_restoring_brings_every_letter_back(opened: Opened) -> None:
    memory = talked(opened(owner_text_limit_bytes=0))
    planned = memory.maintenance.apply_forgetting(user_id="emma", now="2036-01-01", dry_run=True)
    assert len(texts(memory)) == 34
    done = memory.maintenance.apply_forgetting(user_id="emma", now="2036-01-01")
    assert done["forgotten"] == planned["forgotten"] > 0
    gone = [change["memory_id"] for change in planned["changes"] if change["action"] == "pack"]
    assert all(change["reason"] for change in planned["changes"])
    assert memory.get(gone[0]) is None
    back = memory.restore(gone[0])["memory"]
    assert back in {SMALL_TALK.format(number) for number in range(30)} | {
        "My name is Emma.",
        "I am allergic to peanuts.",
    }
    assert back in texts(memory)
    assert memory.maintenance.verify() == []


def test_what_was_packed_is_erased_after_the_grace_period_and_not_before(opened: Opened) -> None:
    memory = talked(opened(owner_text_limit_bytes=400, grace_days=30))
    planned = memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-01", dry_run=True)
    gone = [change["memory_id"] for change in planned["changes"] if change["action"] == "pack"]
    memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-01")
    assert memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-28")["purged"] == 0
    assert memory.maintenance.apply_forgetting(user_id="emma", now="2026-03-10")["purged"] == len(gone) > 0
    with pytest.raises(KeyError):
        memory.restore(gone[0])


def test_an_answer_is_found_by_its_question_when_that_is_gone_for_good(opened: Opened) -> None:
    memory = opened(embeds=False, owner_text_limit_bytes=430)
    talk = [
        ("Mel", "Do you keep any pets?"),
        ("Lin", "Luna and Oliver, they turn three in March 2026 and sleep all day."),
    ]
    messages = [{"role": "user", "name": name, "content": text} for name, text in talk]
    memory.add(messages, user_id="emma", run_id="talk", infer=False)
    for number in range(12):
        text = f"In {number} weeks the Berlin office moves to {number} Oak Street, said Anna Kovacs."
        memory.add(text, user_id="emma", run_id=f"office {number}", infer=False)
    memory.maintenance.apply_forgetting(user_id="emma", now="2026-02-01")
    assert memory.maintenance.apply_forgetting(user_id="emma", now="2026-04-01")["purged"] > 0
    assert not any("pets" in text for text in texts(memory))
    by_words = [
        hit["memory"]
        for hit in memory.search("Which pets?", user_id="emma", explain=True)["results"]
        if "keyword" in hit["retriever_scores"]
    ]
    assert len(by_words) == 1
    assert by_words[0].startswith("Luna Oliver")
    assert memory.maintenance.verify() == []


def test_the_set_phrases_of_an_assistant_make_room_for_what_was_said_once(opened: Opened) -> None:
    memory = opened(owner_text_limit_bytes=150)
    phrase = {"role": "assistant", "content": "I am always here for you, any day."}
    told = ("Aunt Vera rang from Whitby.", "The boat needs a new keel.", "Anna paints the kitchen green.")
    told += ("Our cat Miso hides upstairs.", "The choir sings in Leeds soon.", "My bike has a flat tyre again.")
    for text in told:
        memory.add([{"role": "user", "content": text}, phrase], user_id="emma", infer=False)
    memory.maintenance.run(user_id="emma", now="2026-02-01")
    left = texts(memory)
    assert len(left) == len(told)
    assert not any("always" in text for text in left)


def test_what_is_not_deleted_and_has_not_faded_is_not_restored(opened: Opened) -> None:
    memory = talked(opened(), times=1)
    [item, *_] = memory.get_all(user_id="emma")["results"]
    with pytest.raises(InvalidInputError, match="neither deleted, faded nor closed"):
        memory.restore(item["id"])


def test_with_time_to_live_preferences_run_out_and_names_do_not(opened: Opened) -> None:
    memory = opened(expire_by_type=True)
    memory.add(["My name is Emma.", "I love jazz."], user_id="emma")
    memory.maintenance.run(user_id="emma", now="2026-01-02")
    memory.maintenance.run(user_id="emma", now="2026-05-01")
    kept = [item["memory"] for item in memory.get_all(user_id="emma")["results"]]
    assert "User's name is Emma" in kept
    assert not any("jazz" in memory for memory in kept)


def test_a_used_memory_fades_after_those_that_were_not(opened: Opened) -> None:
    memory = opened(owner_text_limit_bytes=0)
    ids = [memory.add(SMALL_TALK.format(at), user_id="emma", infer=False)["results"][0]["id"] for at in range(6)]
    memory.feedback(ids[2], "used")
    memory.feedback(ids[2], "used")
    days = (f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in (1, 8, 15, 22))
    for day in days:
        memory.maintenance.apply_forgetting(user_id="emma", now=day)
        left = {item["id"] for item in memory.get_all(user_id="emma")["results"]}
        if left != set(ids):
            break
    assert ids[2] in left
