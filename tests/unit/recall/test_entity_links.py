"""Entity neighbours: what is told under another word than the question's is found, and nothing that is over helps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing import AsyncMemory
from ebbing.language.claims.relations import Alias, aliases, kind_of, of_value, spellings
from ebbing.recall.question import rows_naming_entities
from ebbing.recall.recall_settings import RecallSettings
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.unit.recall.conversation_log import log, read

pytestmark = pytest.mark.anyio
START = datetime(2024, 5, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
async def memory(clock: ManualClock) -> AsyncIterator[AsyncMemory]:
    components = build(load_settings({"store": "ephemeral"}), embedder=FakeEmbedder(), clock=clock)
    async with AsyncMemory(components=components) as opened:
        yield opened


async def tell(memory: AsyncMemory, *texts: str, **more: Any) -> None:
    for text in texts:
        await memory.add(text, user_id="u", infer=False, **more)


async def first(memory: AsyncMemory, question: str, **more: Any) -> dict[str, Any]:
    found = (await memory.search(question, user_id="u", explain=True, **more))["results"]
    return dict(found[0]) if found else {}


NOISE = [f"The {thing} was broken on {day}" for thing in ("lamp", "pump", "gate") for day in ("Monday", "Friday")]


@pytest.mark.parametrize(
    ("says", "tells", "asks"),
    [
        ("Lily is my sister", "My sister works at Acme", "Where does Lily work?"),
        ("My dog is called Biscuit", "Our dog hates thunder", "What does Biscuit hate?"),
        ("My mom's name is Ruth", "My mother taught maths for years", "What did Ruth teach for years?"),
        ("I work at Brightwater", "The company moves to Dublin", "Where does Brightwater move to?"),
        ("莉莉是我妹妹", "我妹妹在腾讯上班", "莉莉在哪里上班?"),
        ("我家养了一只猫叫豆包", "我家的猫怕打雷", "豆包怕什么?"),
    ],
)
async def test_what_is_told_under_a_word_is_found_under_the_name(
    memory: AsyncMemory, says: str, tells: str, asks: str
) -> None:
    await tell(memory, *NOISE, says, tells, "My uncle works at Globex")
    hits = (await memory.search(asks, user_id="u", explain=True, top_k=3))["results"]
    best = next(hit for hit in hits if hit["memory"] != says)
    assert best["memory"] == tells
    assert best["retriever_scores"]["graph"] > 0
    assert "by another word" in best["why"]


@pytest.mark.parametrize(
    ("says", "tells", "asks"),
    [
        ("Lily is my sister", "Lily climbed the tower with me", "What did I climb with my sister?"),
        ("我老公叫陈磊", "陈磊把钥匙落在健身房了", "我老公把钥匙落在哪里了?"),
    ],
)
async def test_what_is_told_under_the_name_is_found_under_a_word(
    memory: AsyncMemory, says: str, tells: str, asks: str
) -> None:
    await tell(memory, *NOISE, says, tells)
    best = await first(memory, asks)
    assert (best["memory"], best["retriever_scores"].get("graph", 0) > 0) == (tells, True)


async def test_facts_that_were_read_link_as_well(memory: AsyncMemory) -> None:
    for text in ("My sister is called Lily", "My sister works at Acme"):
        await memory.add(text, user_id="u")
    found = (await memory.search("Where does Lily work?", user_id="u", include="memories"))["results"]
    assert found[0]["memory"] == "User's sister works at Acme"


async def test_without_its_weight_the_step_is_off() -> None:
    components = build(
        load_settings({"store": "ephemeral"}), embedder=FakeEmbedder(), recall_settings=RecallSettings(graph_bonus=0)
    )
    async with AsyncMemory(components=components) as memory:
        await tell(memory, "Lily is my sister", "My sister works at Acme")
        hits = (await memory.search("Where does Lily work?", user_id="u"))["results"]
        assert all("graph" not in hit["retriever_scores"] for hit in hits)


async def test_who_no_longer_bears_a_name_links_nothing(memory: AsyncMemory, clock: ManualClock) -> None:
    await memory.add("My girlfriend is called Elena", user_id="u")
    await memory.add("My girlfriend plays the harp", user_id="u")
    assert "harp" in (await first(memory, "What does Elena play?", include="memories"))["memory"]
    clock.advance(timedelta(days=1))
    for item in (await memory.get_all(user_id="u"))["results"]:
        if "Elena" in item["memory"]:
            await memory.delete(item["id"], user_id="u")
    hits = (await memory.search("What does Elena play?", user_id="u", include="memories"))["results"]
    assert all("graph" not in hit["retriever_scores"] for hit in hits)


async def test_a_name_means_somebody_in_the_words_of_one_speaker(memory: AsyncMemory) -> None:
    said = [("Ann", "Mia is my daughter"), ("Bob", "My daughter plays the harp"), ("Ann", "My daughter paints boats")]
    await memory.add([{"role": "user", "name": by, "content": text} for by, text in said], user_id="u", infer=False)
    hits = (await memory.search("What does Mia do?", user_id="u"))["results"]
    assert {hit["memory"] for hit in hits if "graph" in hit["retriever_scores"]} >= {"My daughter paints boats"}
    assert "My daughter plays the harp" not in {hit["memory"] for hit in hits if "graph" in hit["retriever_scores"]}


async def test_one_of_several_friends_is_not_taken_for_another(memory: AsyncMemory) -> None:
    await tell(memory, "Tom is my friend", "My friend broke a leg")
    hits = (await memory.search("What did Tom break?", user_id="u"))["results"]
    assert all("graph" not in hit["retriever_scores"] for hit in hits)


def test_a_question_that_names_nobody_costs_nothing() -> None:
    shard = log("Lily is my sister", "My sister works at Acme")
    assert rows_naming_entities(shard, read(shard, "Where is the kettle?"), mask=shard.alive) == []
    assert "naming rows" not in shard.derived
    assert rows_naming_entities(shard, read(shard, "Where does Lily work?"), mask=shard.alive) == [0, 1]


def test_of_many_rows_that_may_say_a_name_a_few_are_read() -> None:
    shard = log(*(f"Lily is my sister, number {n}" for n in range(50)))
    assert len(rows_naming_entities(shard, read(shard, "Where does Lily work?"), mask=shard.alive)) == 16


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("my sister Lily came over", [("sister", "Lily")]),
        ("I have a daughter named Mia and a dog called Rex", [("daughter", "Mia"), ("dog", "Rex")]),
        ("My wife Anna Smith works at Acme", [("wife", "Anna Smith")]),
        ("Mia, my daughter, plays chess", [("daughter", "Mia")]),
        ("我女儿叫小美今年5岁", [("女儿", "小美")]),
        ("用户的导师叫张伟", [("导师", "张伟")]),
        ("My mom is in Berlin", []),
        ("My teacher is English", []),
        ("我妈妈是老师", []),
        ("我老公是程序员", []),
        ("My friend And I", []),
    ],
)
def test_names_are_read_from_what_people_say(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.word, one.name) for one in aliases(text)] == found


def test_a_value_names_its_role() -> None:
    assert of_value("sister.name", "Lily") == (Alias("sister", "Lily"),)
    assert Alias("company", "Acme") in of_value("employer", "Acme")
    assert of_value("home", "Rome") == of_value(None, "x") == of_value("employer", None) == ()
    assert {"mother", "妈妈"} <= set(spellings("mom"))
    assert (kind_of("home"), kind_of(None, "dog"), kind_of(None, "sister"), kind_of("vehicle")) == (
        *("place", "pet", "person", "thing"),
    )


@given(st.text(max_size=300))
def test_no_text_breaks_the_reading_of_names(text: str) -> None:
    for one in aliases(text):
        assert one.word
        assert one.name
