"""The examples that the designs of the product give, each through the front door."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.wiring.build import build, load_settings


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    values = {"path": str(tmp_path / "memory.db"), "embedder": "none"}
    opened = Memory(components=build(load_settings(values)))
    yield opened
    opened.close()


def texts(memory: Memory, **scope: Any) -> list[str]:
    return [item["memory"] for item in memory.get_all(**(scope or {"user_id": "u"}))["results"]]


def told(memory: Memory, *messages: str) -> list[str]:
    for message in messages:
        memory.add(message, user_id="u")
    return texts(memory)


# ── a memory of likes, facts and plans ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("message", "holds"),
    [
        ("我是后端程序员", "后端程序员"),
        ("我喜欢简洁的回复风格", "简洁的回复"),
        ("我老是加班", "经常加班"),
        ("我不喜欢香菜", "不喜欢香菜"),
        ("我讨厌下雨天", "下雨天"),
        ("我叫小雨", "小雨"),
        ("我住在上海", "上海"),
        ("我在网易工作", "网易"),
        ("我打算学游泳", "学游泳"),
        ("下周我要去北京", "北京"),
        ("我喜欢科幻电影", "科幻电影"),
        ("我希望推荐时长在120分钟以内的电影", "120分钟以内"),
    ],
)
def test_what_the_designs_want_remembered_is_remembered(memory: Memory, message: str, holds: str) -> None:
    assert any(holds in text for text in told(memory, message))


@pytest.mark.parametrize(
    "message",
    ["今天天气不错", "吃什么好呢？", "好无聊啊", "你好。", "树上有树枝。", "Hi.", "There are branches in trees."],
)
def test_what_the_designs_call_chatter_is_not_remembered(memory: Memory, message: str) -> None:
    assert told(memory, message) == []


# ── the companion that is told of an allergy ─────────────────────────────────────────────────────────────────────────


def test_an_allergy_is_found_when_dinner_is_asked_for_the_next_day(memory: Memory) -> None:
    told(memory, "我海鲜过敏，别推荐海鲜")
    found = memory.search("晚饭推荐什么？", user_id="u")["results"]
    assert any("海鲜" in item["memory"] for item in found)


def test_a_weak_question_finds_what_was_said_of_a_sleepless_night(memory: Memory) -> None:
    memory.add("我经常失眠，睡前吃褪黑素", user_id="u")
    context = memory.get_context(
        "你今天有什么不一样？", user_id="u", messages=[{"role": "user", "content": "我昨晚失眠了"}]
    )
    assert "褪黑素" in str(context)


# ── the sister, Jesica and the dog ───────────────────────────────────────────────────────────────────────────────────

DESMOND = ("Hi, my name is Desmond.", "I have a sister.", "Her name is Jesica.", "She has a dog.")


@pytest.mark.parametrize("at_once", [False, True])
def test_the_sister_her_name_and_her_dog_are_remembered(memory: Memory, *, at_once: bool) -> None:
    if at_once:
        memory.add([{"role": "user", "content": text} for text in DESMOND], user_id="u")
    else:
        told(memory, *DESMOND)
    found = texts(memory)
    assert any("Desmond" in text for text in found)
    assert any("sister" in text and "Jesica" in text for text in found), found
    assert any("sister" in text and "dog" in text for text in found), found
    assert not any(text.startswith(("Her ", "She ")) or text == "User has a dog" for text in found)


def test_the_sister_and_her_dog_are_remembered_in_chinese(memory: Memory) -> None:
    found = told(memory, "你好，我叫 Desmond", "我有一个姐姐", "她的名字是 Jesica", "她有一条狗")
    assert any("姐姐" in text and "Jesica" in text for text in found), found
    assert any("姐姐" in text and "狗" in text for text in found), found


@pytest.mark.parametrize(
    ("message", "holds"),
    [
        ("你好，我叫John。我是一名软件工程师。", ["John", "软件工程师"]),
        ("Hi, my name is John. I am a software engineer.", ["John", "software engineer"]),
        ("我最喜欢的电影是《盗梦空间》和《星际穿越》。", ["盗梦空间", "星际穿越"]),
    ],
)
def test_the_few_shot_examples_are_read(memory: Memory, message: str, holds: list[str]) -> None:
    found = " ".join(told(memory, message))
    assert all(words in found for words in holds), found


@pytest.mark.parametrize(
    ("before", "after", "holds", "gone"),
    [
        ("User likes cheese pizza", "User loves cheese pizza", "cheese pizza", ""),
        ("用户喜欢奶酪披萨", "用户喜欢奶酪披萨", "奶酪披萨", ""),
        ("我喜欢打板球", "我喜欢和朋友一起打板球", "板球", ""),
        ("爱吃奶酪披萨", "不喜欢奶酪披萨", "不喜欢奶酪披萨", "用户爱吃奶酪披萨"),
        ("我喜欢科幻电影", "我不喜欢科幻电影", "不喜欢科幻电影", "用户喜欢科幻电影"),
    ],
)
def test_the_update_examples_end_as_the_designs_say(
    memory: Memory, before: str, after: str, holds: str, gone: str
) -> None:
    found = told(memory, before, after)
    assert any(holds in text for text in found), found
    assert not gone or gone not in found


# ── what the agent says of itself ────────────────────────────────────────────────────────────────────────────────────


def test_the_films_of_the_agent_are_remembered_for_the_agent(memory: Memory) -> None:
    memory.add(
        [
            {"role": "user", "content": "Me favourite movies are Inception and Interstellar. What are yours?"},
            {"role": "assistant", "content": "Great choices! Mine are The Dark Knight and The Shawshank Redemption."},
        ],
        user_id="u",
        agent_id="a",
    )
    found = texts(memory, user_id="u", agent_id="a")
    assert any("favourite movies are The Dark Knight and The Shawshank Redemption" in text for text in found), found
    assert not any("User" in text and "Dark Knight" in text for text in found)
