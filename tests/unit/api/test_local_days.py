"""Yesterday is the day before in the place of the one who wrote, whatever day it is elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from ebbing import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio


async def kept(text: str, *, at: str | None, **settings: str) -> dict[str, object]:
    clock = ManualClock(datetime(2026, 7, 27, 23, 30, tzinfo=UTC))
    components = build(load_settings({"store": "ephemeral", "embedder": "none", **settings}), clock=clock)
    async with AsyncMemory(components=components) as memory:
        message = {"role": "user", "content": text, **({"timestamp": at} if at else {})}
        await memory.add([message], user_id="ann")
        [item] = (await memory.get_all(user_id="ann"))["results"]
        return dict(item)


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-07-28T07:10:00+08:00", "2026-07-27"),
        ("2026-07-27T23:10:00Z", "2026-07-26"),
        ("2026-07-27T20:10:00-07:00", "2026-07-26"),
    ],
)
async def test_yesterday_is_the_day_before_where_the_message_was_written(at: str, day: str) -> None:
    item = await kept("I broke my arm yesterday", at=at)
    assert day in str(item["memory"])
    assert str(item["created_at"]).endswith("+00:00")


async def test_a_message_without_a_time_is_written_in_the_zone_of_the_settings() -> None:
    assert "2026-07-26" in str((await kept("I broke my arm yesterday", at=None))["memory"])
    shanghai = await kept("I broke my arm yesterday", at=None, timezone="Asia/Shanghai")
    assert "2026-07-27" in str(shanghai["memory"])


LATE: Final = {"role": "user", "content": "I see Dr Chen tomorrow", "timestamp": "2026-07-28T07:10:00+08:00"}
"""A Tuesday in China, while it is Monday in UTC."""


async def block(message: dict[str, str], *, asked: str = "When do I see Dr Chen?", **options: Any) -> str:
    clock = ManualClock(datetime(2026, 7, 27, 23, 30, tzinfo=UTC))
    settings = {name: options.pop(name) for name in ("default_zone",) if name in options}
    zone = {"timezone": settings["default_zone"]} if settings else {}
    components = build(load_settings({"store": "ephemeral", "embedder": "none", **zone}), clock=clock)
    async with AsyncMemory(components=components) as memory:
        await memory.add([message], user_id="ann")
        return str((await memory.get_context(asked, user_id="ann", **options))["context"])


async def test_a_message_has_the_day_of_its_own_clock_in_a_block() -> None:
    context = await block(LATE)
    assert "2026-07-28 user" in context
    assert "tomorrow (2026-07-29)" in context


async def test_the_zone_of_the_call_wins_over_the_clock_of_a_message() -> None:
    context = await block(LATE, timezone="Europe/Berlin")
    assert "tomorrow (2026-07-29)" in context
    assert "2026-07-28 user" in context
    assert "tomorrow (2026-07-28)" in await block(LATE, timezone="America/New_York")


async def test_the_zone_of_the_settings_is_for_messages_whose_time_names_no_offset() -> None:
    assert "tomorrow (2026-07-29)" in await block(LATE, default_zone="America/New_York")
    in_utc = {**LATE, "timestamp": "2026-07-27T23:10:00Z"}
    assert "tomorrow (2026-07-28)" in await block(in_utc)
    assert "tomorrow (2026-07-29)" in await block(in_utc, default_zone="Asia/Shanghai")


async def test_the_offset_of_a_message_is_told_and_exported() -> None:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        await memory.add([LATE], user_id="ann", infer=False)
        [item] = (await memory.get_all(user_id="ann"))["results"]
        assert (item["created_at"], item["utc_offset_minutes"]) == ("2026-07-27T23:10:00+00:00", 480)
        lines = (await memory.export(user_id="ann"))["records"]
        assert [line["utc_offset_minutes"] for line in lines] == [480]


async def test_yesterday_in_a_question_is_seen_from_where_the_person_wrote_last() -> None:
    clock = ManualClock(datetime(2026, 7, 28, 23, 30, tzinfo=UTC))
    components = build(load_settings({"store": "ephemeral", "embedder": "none"}), clock=clock)
    async with AsyncMemory(components=components) as memory:
        for day, text in ((27, "Lunch with Mona"), (28, "Lunch with Ines"), (29, "Nothing today")):
            at = f"2026-07-{day}T07:00:00+08:00"
            await memory.add([{"role": "user", "content": text, "timestamp": at}], user_id="ann", infer=False)
        best = (await memory.search("Who was lunch with yesterday?", user_id="ann"))["results"][0]
        assert best["memory"] == "Lunch with Ines"
