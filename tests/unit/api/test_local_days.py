"""Yesterday is the day before in the place of the one who wrote, whatever day it is elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime

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
