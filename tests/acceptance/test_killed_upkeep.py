"""The upkeep is killed at any point: run again it completes, and nothing is lost, doubled or orphaned by it."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory, Memory
from ebbing.domain.record import Kind, MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.testing.clock import ManualClock
from tests.acceptance.child_upkeep import EMBEDDER

CHILD = Path(__file__).with_name("child_upkeep.py")
NOW = datetime(2026, 6, 1, 3, tzinfo=UTC)
USERS = ("emma", "张伟", "luis", "李娜", "ana", "王芳")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
VARIES = {"id", "version", "generation"}
"""Of what a round makes: made anew, or counted up, each time."""


def year(user: str) -> Iterator[tuple[str, datetime]]:
    """What somebody says over a year: what lasts, what repeats, what is passing."""
    begin = NOW - timedelta(days=365)
    lasting = ["My name is Emma.", "I'm allergic to peanuts.", "I live in Leeds.", "我对花生过敏。", "我住在杭州。"]
    for number, text in enumerate(lasting):
        yield text, begin + timedelta(days=number)
    for week in range(40):
        day = begin + timedelta(days=7 * week)
        yield f"I had a latte at the corner cafe on {DAYS[week % 7]}.", day
        yield f"我星期{'一二三四五六日'[week % 7]}又去公园跑步了。", day + timedelta(hours=5)
        yield "I really like green tea." if week % 2 else "I like green tea a lot.", day + timedelta(days=1)
        yield f"The bus number {week * 7 % 90} was {week % 9 + 2} minutes late today, {user}.", day + timedelta(days=2)
        yield f"今天的第{week}封邮件有点长，回完就下班了。", day + timedelta(days=3)


def fill(directory: Path) -> None:
    with Memory(directory, embedder=EMBEDDER, clock=ManualClock(NOW - timedelta(days=1))) as memory:
        for user in USERS:
            said = [
                {"role": "user", "content": text, "timestamp": at.isoformat(), "id": f"{user} {number}"}
                for number, (text, at) in enumerate(year(user))
            ]
            memory.add(said, user_id=user)
            memory.add([message | {"id": f"raw {message['id']}"} for message in said[5:]], user_id=user, infer=False)


def started(directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), str(directory), NOW.isoformat()]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    return child


def completed(directory: Path) -> tuple[float, dict[str, dict[str, int]]]:
    """How many seconds a round took that nobody killed, and what it did."""
    out, _ = started(directory).communicate()
    assert out.startswith("done "), out
    told = json.loads(out.removeprefix("done "))
    return told["seconds"], told["steps"]


async def everything(directory: Path) -> tuple[dict[str, MemoryRecord], list[str]]:
    """Every record that there is, deleted and retired ones too, and what is wrong with the indexes."""
    async with AsyncMemory(directory, embedder=EMBEDDER, clock=ManualClock(NOW)) as memory:
        store, found = memory.parts.store, {}
        for user in USERS:
            page = await store.page(Scope(user), kinds=tuple(Kind), limit=100_000, deleted=True)
            found.update({record.id: record for record in page.records})
        return found, await store.verify()


def summaries(directory: Path) -> list[str]:
    """What the profiles say."""
    with Memory(directory, embedder=EMBEDDER, clock=ManualClock(NOW)) as memory:
        return [memory.profile(user_id=user)["summary"] for user in USERS]


def told(record: MemoryRecord, names: dict[str, str]) -> str:
    """The record as text, with other records named by what does not vary from run to run."""
    fields = {name: value for name, value in asdict(record).items() if name not in VARIES}

    def named(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value, value)
        if isinstance(value, list | tuple):
            return sorted(map(str, map(named, value)))
        if isinstance(value, dict):
            return {key: named(one) for key, one in value.items()}
        return value

    return json.dumps(named(fields), ensure_ascii=False, default=str, sort_keys=True)


def picture(records: dict[str, MemoryRecord], originals: set[str]) -> Counter[str]:
    """The whole store as texts; two that are equal hold the same."""

    def told_by(key: str) -> set[str]:
        """The ids of what was said that stands behind a record."""
        return {key} if key in originals else set().union(*map(told_by, records[key].compression_sources))

    names = {
        key: key if key in originals else f"made of {sorted(told_by(key))}: {record.content}"
        for key, record in records.items()
    }
    return Counter(f"{names[key]} = {told(record, names)}" for key, record in records.items())


def dangling(records: dict[str, MemoryRecord]) -> list[str]:
    """References to what is not there."""
    return [
        f"{record.id} names {other}"
        for record in records.values()
        for other in (*record.compression_sources, *filter(None, [record.superseded_by]))
        if other not in records
    ]


def kill(directory: Path, kills: int) -> None:
    chance, template, undisturbed = random.Random(20_260_601), directory / "template", directory / "undisturbed"
    fill(template)
    originals, problems = asyncio.run(everything(template))
    assert problems == []
    shutil.copytree(template, undisturbed)
    longest, steps = completed(undisturbed)
    assert any(sum(counts.values()) for counts in steps.values()), "the round has nothing to do"
    expected, problems = asyncio.run(everything(undisturbed))
    assert (problems, dangling(expected)) == ([], [])
    wanted, known = picture(expected, set(originals)), summaries(undisturbed)
    assert all(known)
    in_the_middle = 0
    for number in range(kills):
        place = directory / f"kill-{number}"
        shutil.copytree(template, place)
        child = started(place)
        time.sleep(chance.uniform(0.0, longest))
        child.kill()
        child.communicate()
        between, problems = asyncio.run(everything(place))
        assert problems == [], f"after kill {number}"
        assert dangling(between) == [], f"after kill {number}"
        in_the_middle += picture(between, set(originals)) not in (wanted, picture(originals, set(originals)))
        completed(place)
        after, problems = asyncio.run(everything(place))
        assert problems == [], f"once kill {number} was made up for"
        found = picture(after, set(originals))
        assert found - wanted == Counter(), f"doubled or orphaned by kill {number}"
        assert wanted - found == Counter(), f"lost by kill {number}"
        assert summaries(place) == known, f"profiles after kill {number}"
        shutil.rmtree(place)
    assert in_the_middle >= kills / 10, f"only {in_the_middle} of {kills} kills hit a round that was under way"


@pytest.mark.slow
def test_a_round_that_is_killed_anywhere_ends_as_if_nobody_had_killed_it(tmp_path: Path) -> None:
    kill(tmp_path, 50)
