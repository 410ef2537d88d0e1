"""Compression is killed in the middle: run again it completes; nothing is lost, doubled or left untold."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.testing.models.embedder import FakeEmbedder

pytestmark = pytest.mark.extended

CHILD = Path(__file__).with_name("child_compressor.py")
OWNERS = [f"user {number}" for number in range(4)]
THINGS = "绿茶 红茶 咖啡 牛奶 啤酒 可乐 豆浆 果汁 苹果 香蕉 葡萄 西瓜 草莓 面包 蛋糕 饼干 米饭 面条 饺子 火锅".split()
EVENTS = ("今天买了拿铁", "买了一杯拿铁", "又买了拿铁", "我买了拿铁")
Everything = dict[str, dict[str, Any]]


def fill(directory: Path) -> None:
    """Each owner says sixty things about twenty matters, and has bought coffee on four days."""
    with Memory(path=directory, embedder=FakeEmbedder(64)) as memory:
        for owner in OWNERS:
            wordings = (("喜欢", "。"), ("特别爱", "呢"), ("爱", ""))
            texts = [f"我{how}喝{thing}{end}" for thing in THINGS for how, end in wordings]
            said = [(text, number % 28) for number, text in enumerate(texts)]
            said += [(text, 3 * number) for number, text in enumerate(EVENTS)]
            messages = [
                {"role": "user", "content": text, "timestamp": f"2026-03-{day + 1:02}T09:00:00Z"} for text, day in said
            ]
            memory.add(messages, user_id=owner, infer=False)


def exported(memory: Memory) -> Everything:
    return {one["id"]: one for owner in OWNERS for one in memory.export(user_id=owner)["records"]}


def killed(directory: Path, after: float) -> bool:
    """Whether a compressor that was killed so many seconds after it began was still at work."""
    command = [sys.executable, str(CHILD), str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(after)
        was_at_work = child.poll() is None
        child.kill()
        child.communicate()
    return was_at_work


def check(directory: Path, before: Everything) -> None:
    with Memory(path=directory, embedder=FakeEmbedder(64)) as memory:
        assert memory.maintenance.verify() == []
        there = exported(memory)
        for name, said in before.items():
            assert there[name]["content"] == said["content"]
            teller = there[name].get("superseded_by")
            assert (teller is None) == (there[name].get("retired_at") is None)
            assert teller is None or name in there[teller]["compression_sources"]
        told = Counter(name for one in there.values() for name in one.get("compression_sources", ()))
        summaries = Counter(
            name for one in there.values() if "summary" in one.get("tags", ()) for name in one["compression_sources"]
        )
        assert max((told - summaries).values(), default=1) == 1


def finished(directory: Path) -> dict[str, Counter[tuple[str, int]]]:
    """What everybody's memory says, and how often it was said, once compression ran to its end."""
    told = {}
    with Memory(path=directory, embedder=FakeEmbedder(64)) as memory:
        for owner in OWNERS:
            for step in (memory.maintenance.merge_duplicates, memory.maintenance.derive_habits):
                step(user_id=owner, now="2027-01-01")
            items = memory.get_all(user_id=owner, limit=1_000)["results"]
            told[owner] = Counter(
                (item["memory"], item.get("mentions", 1)) for item in items if "summary" not in item["tags"]
            )
    return told


def kill_compression(tmp_path: Path, kills: int) -> None:
    whole, unharmed = tmp_path / "whole", tmp_path / "unharmed"
    fill(whole)
    with Memory(path=whole, embedder=FakeEmbedder(64)) as memory:
        before = exported(memory)
    shutil.copytree(whole, unharmed)
    expected = finished(unharmed)
    chance, hit = random.Random(20_270_101), 0
    for number in range(kills):
        directory = tmp_path / f"killed {number}"
        shutil.copytree(whole, directory)
        hit += killed(directory, chance.uniform(0.0, 0.4))
        check(directory, before)
        assert finished(directory) == expected
        check(directory, before)
        shutil.rmtree(directory)
    assert hit > kills // 4, "hardly any was killed at work"


def test_compression_that_is_killed_five_times_completes_without_loss(tmp_path: Path) -> None:
    kill_compression(tmp_path, 5)


@pytest.mark.slow
def test_compression_that_is_killed_fifty_times_completes_without_loss(tmp_path: Path) -> None:
    kill_compression(tmp_path, 50)
