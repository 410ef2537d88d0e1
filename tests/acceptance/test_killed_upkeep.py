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
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.text_compression import full_text
from ebbing.testing.clock import ManualClock
from tests.acceptance.child_upkeep import EMBEDDER

CHILD = Path(__file__).with_name("child_upkeep.py")
NOW = datetime(2026, 6, 1, 3, tzinfo=UTC)
USERS = ("emma", "张伟", "luis", "李娜")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
VARIES = {"id", "version", "generation"}
"""Of what a round makes: made anew, or counted up, each time."""


def year(user: str) -> Iterator[tuple[str, datetime]]:
    """What somebody says over a year: what lasts, what repeats, what is passing."""
    begin = NOW - timedelta(days=365)
    lasting = ["My name is Emma.", "I'm allergic to peanuts.", "I live in Leeds.", "我对花生过敏。", "我住在杭州。"]
    for number, text in enumerate(lasting):
        yield text, begin + timedelta(days=number)
    for week in range(30):
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


def started(directory: Path, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), str(directory), NOW.isoformat(), what]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    return child


def completed(directory: Path, what: str) -> tuple[float, dict[str, dict[str, int]]]:
    """How many seconds a round took that nobody killed, and what it did."""
    out, _ = started(directory, what).communicate()
    assert out.startswith("done "), out
    told = json.loads(out.removeprefix("done "))
    left = {name: counts for name, counts in told["again"].items() if any(counts.values())}
    assert left == {}, "asked once more it found something left to do"
    return told["seconds"], told["steps"]


async def everything(directory: Path) -> tuple[dict[str, MemoryRecord], list[str]]:
    """Every record that there is, deleted and retired ones too, and what is wrong with the indexes."""
    async with AsyncMemory(directory, embedder=EMBEDDER, clock=ManualClock(NOW)) as memory:
        store, found = memory.components.store, {}
        for user in USERS:
            page = await store.page(Scope(user), kinds=tuple(Kind), limit=100_000, deleted=True)
            found.update({record.id: record for record in page.records})
        return found, await store.verify()


def summaries(directory: Path) -> list[str]:
    """What the profiles say."""
    with Memory(directory, embedder=EMBEDDER, clock=ManualClock(NOW)) as memory:
        return [memory.profiles.get(user_id=user)["summary"] for user in USERS]


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


def broken(originals: dict[str, MemoryRecord], records: dict[str, MemoryRecord]) -> list[str]:
    """What is lost, doubled or orphaned, in words."""
    lost = [key for key, was in originals.items() if key not in records or full_text(records[key]) != full_text(was)]
    orphans = [
        f"{record.id} names {other}"
        for record in records.values()
        for other in (*record.compression_sources, *filter(None, [record.superseded_by]))
        if other not in records
    ]
    untold = [key for key, record in records.items() if record.retired_at and not _is_told(record, records)]
    made = Counter(
        (record.belongs_to.user_id, record.abstraction_level, record.content, tuple(sorted(record.compression_sources)))
        for key, record in records.items()
        if key not in originals and record.is_active
    )
    return [
        *(f"{key} is lost" for key in lost),
        *orphans,
        *(f"{key} is retired and nobody tells it" for key in untold),
        *(f"there {count} times: {name}" for name, count in made.items() if count > 1),
    ]


def _is_told(record: MemoryRecord, records: dict[str, MemoryRecord]) -> bool:
    """Whether what tells a retired record is there, not retired in its turn for want of an end."""
    seen: set[str] = set()
    while record.retired_at is not None:
        if record.superseded_by is None or record.superseded_by not in records or record.id in seen:
            return False
        seen.add(record.id)
        record = records[record.superseded_by]
    return True


class Kills:
    """The same store again and again, killed at another moment each time."""

    def __init__(self, directory: Path, what: str) -> None:
        self.directory, self.what = directory, what
        self.template = directory / "template"
        fill(self.template)
        self.originals, problems = asyncio.run(everything(self.template))
        assert problems == []
        self.undisturbed = directory / "undisturbed"
        shutil.copytree(self.template, self.undisturbed)
        self.seconds, steps = completed(self.undisturbed, what)
        assert any(sum(counts.values()) for counts in steps.values()), "there is nothing to do"
        self.in_the_middle = 0

    def each(self, kills: int) -> Iterator[Path]:
        """Stores in which the work was killed, checked, and completed."""
        chance = random.Random(20_260_601)
        before, whole = self.seen(self.template), self.seen(self.undisturbed)
        for number in range(kills):
            place = self.directory / f"kill-{number}"
            shutil.copytree(self.template, place)
            child = started(place, self.what)
            time.sleep(chance.uniform(0.0, self.seconds))
            child.kill()
            child.communicate()
            self.in_the_middle += self.seen(place) not in (before, whole)
            completed(place, self.what)
            self.seen(place)
            yield place
            shutil.rmtree(place)
        assert self.in_the_middle >= kills / 10, f"only {self.in_the_middle} of {kills} kills hit work under way"

    def seen(self, place: Path) -> Counter[str]:
        """The store as it is, in which nothing is broken."""
        records, problems = asyncio.run(everything(place))
        assert [*problems, *broken(self.originals, records)] == [], place.name
        return picture(records, set(self.originals))


@pytest.mark.slow
def test_merging_that_is_killed_anywhere_ends_as_if_nobody_had_killed_it(tmp_path: Path) -> None:
    kills = Kills(tmp_path, "compress")
    wanted, known = kills.seen(kills.undisturbed), summaries(kills.undisturbed)
    assert all(known)
    for place in kills.each(10):
        assert kills.seen(place) == wanted
        assert summaries(place) == known


@pytest.mark.slow
def test_a_round_that_is_killed_anywhere_completes_and_nothing_is_lost_doubled_or_orphaned(tmp_path: Path) -> None:
    kills = Kills(tmp_path, "upkeep")
    for _ in kills.each(50):
        pass  # each is checked as it was left, and once it is completed
