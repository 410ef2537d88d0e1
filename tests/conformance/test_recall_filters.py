"""Filters, pages, thresholds and questions about the past mean the same through the front door on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Revise
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
DAY = timedelta(days=1)
CALM = {"mood": "calm"}


class World:
    """A memory of one store, with its clock."""

    def __init__(self, memory: AsyncMemory, clock: ManualClock) -> None:
        self.memory, self.clock = memory, clock

    async def tell(self, text: str, *, user_id: str = "ada", **more: Any) -> str:
        told = await self.memory.add(text, user_id=user_id, infer=False, **more)
        return str(told["results"][0]["id"])

    async def found(self, query: str = "what does ada drink", **asked: Any) -> list[str]:
        answer = await self.memory.search(query, **{"user_id": "ada", **asked})
        return [item["memory"] for item in answer["results"]]

    async def listed(self, **asked: Any) -> list[str]:
        answer = await self.memory.get_all(**{"user_id": "ada", **asked})
        return [item["memory"] for item in answer["results"]]


@pytest.fixture(params=["sqlite", "ephemeral"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    clock = ManualClock()
    settings = load_settings({"store": request.param, "path": tmp_path})
    async with AsyncMemory(components=build(settings, embedder=FakeEmbedder(64), clock=clock)) as memory:
        yield World(memory, clock)


async def test_a_filter_narrows_search_and_list_alike(world: World) -> None:
    await world.tell("Ada drinks tea", metadata={"mood": "calm", "cups": 2})
    await world.tell("Ada drinks coffee", metadata={"mood": "glad", "cups": 4}, run_id="r1")
    await world.tell("阿达喝茶", metadata={"心情": "平静"})
    for wanted, texts in (
        (CALM, ["Ada drinks tea"]),
        ({"metadata": {"cups": {"gt": 2}}}, ["Ada drinks coffee"]),
        ({"runId": "r1"}, ["Ada drinks coffee"]),
        ({"AND": [{"user_id": "ada"}, {"心情": {"contains": "静"}}]}, ["阿达喝茶"]),
        ({"NOT": [{"mood": "*"}]}, ["阿达喝茶"]),
        ({"memory": {"icontains": "ＴＥＡ"}}, ["Ada drinks tea"]),
        ({"mood": "none such"}, []),
    ):
        assert await world.found(filters=wanted) == texts
        assert await world.listed(filters=wanted) == texts


async def test_an_exact_filter_finds_what_a_question_alone_would_not(world: World) -> None:
    for number in range(60):
        await world.tell(f"Ada drinks tea number {number}", metadata={"n": number})
    assert await world.found("tea", filters={"n": 7}, top_k=5) == ["Ada drinks tea number 7"]


async def test_ids_in_filters_say_whose_memory_is_meant(world: World) -> None:
    await world.tell("Ada drinks tea")
    await world.tell("Bob drinks tea", user_id="bob")
    for filters in ({"user_id": "bob"}, {"AND": [{"userId": "bob"}]}):
        assert await world.listed(user_id=None, filters=filters) == ["Bob drinks tea"]
    assert await world.listed(filters={"OR": [{"user_id": "bob"}, {"user_id": "ada"}]}) == ["Ada drinks tea"]
    assert await world.found(filters={"NOT": [{"user_id": "bob"}]}) == ["Ada drinks tea"]
    with pytest.raises(InvalidInputError, match="user_id differs"):
        await world.listed(filters={"user_id": "bob"})
    with pytest.raises(MissingOwnerError):
        await world.listed(user_id=None, filters={"user_id": "*"})


@pytest.mark.parametrize("filters", [CALM, {"user_id": "*"}, {"OR": [{"user_id": "ada"}]}, {"user_id": ["ada"]}])
async def test_nothing_is_erased_by_a_filter_that_names_more_than_ids(world: World, filters: dict[str, Any]) -> None:
    await world.tell("Ada drinks tea", metadata=CALM)
    with pytest.raises(InvalidInputError):
        await world.memory.delete_all(user_id="ada", filters=filters)
    with pytest.raises(MissingOwnerError):
        await world.memory.delete_all(filters={})
    assert await world.listed() == ["Ada drinks tea"]
    await world.memory.delete_all(filters={"AND": [{"user_id": "ada"}]})
    assert await world.listed() == []


async def test_filtered_pages_stay_in_step_while_memories_come_and_go(world: World) -> None:
    ids = []
    for number in range(7):
        ids.append(await world.tell(f"calm {number}", metadata=CALM))
        await world.tell(f"glad {number}", metadata={"mood": "glad"})
        if number % 2:
            world.clock.advance(DAY)
    texts: list[str] = []
    cursor: str | None = None
    while True:
        page = await world.memory.get_all(user_id="ada", filters=CALM, limit=2, cursor=cursor)
        texts += [item["memory"] for item in page["results"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        await world.tell("calm and new", metadata=CALM)
        await world.memory.delete(ids.pop(), user_id="ada")
    assert texts == [f"calm {number}" for number in (6, 5, 4, 3, 2, 1, 0)]


async def test_a_cursor_goes_on_with_or_without_the_filter(world: World) -> None:
    for number in range(4):
        await world.tell(f"calm {number}", metadata=CALM)
    page = await world.memory.get_all(user_id="ada", limit=2)
    assert await world.listed(filters=CALM, cursor=page["next_cursor"]) == ["calm 1", "calm 0"]
    with pytest.raises(InvalidInputError, match="cursor"):
        await world.listed(filters=CALM, cursor="x")


async def test_what_was_believed_then_is_answered_in_the_words_of_then(world: World) -> None:
    memory_id = await world.tell("Ada drinks tea", metadata=CALM)
    first = world.clock.now()
    second = world.clock.advance(DAY)
    await world.memory.update(memory_id, "Ada drinks cocoa", user_id="ada")
    third = world.clock.advance(DAY)
    await world.memory.delete(memory_id, user_id="ada")
    fourth = world.clock.advance(DAY)
    await world.memory.restore(memory_id, user_id="ada")
    for moment, text in (
        (first - DAY, None),
        (first, "Ada drinks tea"),
        (second - DAY / 2, "Ada drinks tea"),
        (second, "Ada drinks cocoa"),
        (third - DAY / 2, "Ada drinks cocoa"),
        (third, None),
        (fourth - DAY / 2, None),
        (fourth, "Ada drinks cocoa"),
    ):
        expected = [] if text is None else [text]
        assert await world.listed(as_of=moment) == expected
        assert await world.found(as_of=moment) == expected
        assert await world.found(as_of=moment.isoformat(), filters=CALM) == expected
        word = (text or "nothing").split()[-1]
        assert await world.listed(as_of=moment, filters={"text": {"contains": word}}) == expected


async def test_a_superseded_memory_is_seen_until_its_end_was_known(world: World) -> None:
    memory_id = await world.tell("Ada lives in Paris")
    start = world.clock.now()
    store, scope = world.memory.components.store, Scope(user_id="ada")
    learned = world.clock.advance(4 * DAY)
    [record] = await store.get(scope, [memory_id])
    ended = replace(record, valid_to=start + 2 * DAY, superseded_by="another", version=record.version + 1)
    await store.write(scope, [Revise(ended, Event.SUPERSEDE, reason="she moved")])
    seen = ["Ada lives in Paris"]
    believed = [await world.listed(as_of=start + day * DAY) for day in range(6)]
    assert believed == [seen, seen, seen, seen, [], []]
    assert await world.found("where does Ada live", as_of=learned - DAY) == seen
    assert await world.found("where does Ada live", as_of=learned) == []
    assert await world.found("where does Ada live") == []


async def test_a_former_wording_is_found_by_its_words(world: World) -> None:
    memory_id = await world.tell("Ada drinks oolong at dawn")
    for number in range(20):
        await world.tell(f"Ada paints picture {number}")
    then = world.clock.now()
    world.clock.advance(DAY)
    await world.memory.update(memory_id, "Ada sleeps late", user_id="ada")
    assert (await world.found("oolong at dawn", as_of=then))[0] == "Ada drinks oolong at dawn"
    assert "Ada sleeps late" not in await world.listed(as_of=then)
    assert (await world.found("sleeps late", as_of=world.clock.now()))[0] == "Ada sleeps late"


async def test_moments_do_not_disturb_each_other(world: World) -> None:
    memory_id = await world.tell("Ada drinks tea", metadata=CALM)
    then = world.clock.now()
    later = world.clock.advance(DAY)
    await world.memory.update(memory_id, "Ada drinks cocoa", user_id="ada")
    world.clock.advance(DAY)
    await world.tell("Ada paints", metadata=CALM)
    assert await world.listed(as_of=later, filters=CALM) == ["Ada drinks cocoa"]
    assert await world.listed(as_of=then, filters=CALM) == ["Ada drinks tea"]
    assert await world.listed(as_of=later, filters={"mood": {"ne": "glad"}}) == ["Ada drinks cocoa"]
    assert await world.listed(filters={"mood": {"ne": "glad"}}) == ["Ada paints", "Ada drinks cocoa"]


async def test_a_moment_before_anything_was_known_has_no_answer(world: World) -> None:
    await world.tell("Ada drinks tea")
    assert await world.found(as_of=world.clock.now() - DAY) == []
    assert await world.found(as_of="1999-01-01") == []
    with pytest.raises(InvalidInputError, match="as_of"):
        await world.listed(as_of="once")


async def test_what_was_said_long_ago_but_told_today_was_not_known_before(world: World) -> None:
    said = datetime.fromisoformat("2020-01-01T00:00:00+00:00")
    message = {"role": "user", "content": "Ada drinks tea", "timestamp": said.isoformat()}
    await world.memory.add([message], user_id="ada", infer=False)
    assert await world.listed(as_of=said + DAY) == []
    assert await world.listed(as_of=world.clock.now()) == ["Ada drinks tea"]


async def test_threshold_and_top_k_both_hold(world: World) -> None:
    for text in ("Ada drinks tea", "Ada drinks green tea", "Bob repairs bicycles on Sundays"):
        await world.tell(text)
    answer = await world.memory.search("Ada drinks tea", user_id="ada", top_k=3)
    scores = sorted((item["score"] for item in answer["results"]), reverse=True)
    between = (scores[1] + scores[2]) / 2
    assert len(await world.found("Ada drinks tea", threshold=between)) == 2
    assert len(await world.found("Ada drinks tea", threshold=between, top_k=1)) == 1
    assert len(await world.found("Ada drinks tea", threshold=0)) == 3
    assert await world.found("xylophone", threshold=1) == []


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "0.5", True, float("nan")])
async def test_a_threshold_outside_of_zero_to_one_is_refused(world: World, threshold: Any) -> None:
    with pytest.raises(InvalidInputError, match="threshold"):
        await world.found(threshold=threshold)


async def test_limit_is_another_word_for_top_k(world: World) -> None:
    for number in range(8):
        await world.tell(f"Ada drinks tea {number}")
    assert len(await world.found(limit=2)) == 2
    assert len(await world.found(limit=7)) == 7
    assert len(await world.found(top_k=3, limit=3)) == 3
    with pytest.raises(InvalidInputError, match="one of them"):
        await world.found(top_k=3, limit=2)
    with pytest.raises(InvalidInputError):
        await world.found(limit=0)
    with pytest.raises(TypeError, match="min_score"):
        await world.found(min_score=0.5)
