"""A person has forgotten what they like and want of a thing, in everyday words: that, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ebbing import Memory

ZH = ("我喜欢科幻电影", "我不喜欢恐怖电影", "我希望推荐时长在120分钟以内的电影", "我昨天和妈妈看了电影", "我住在上海")
EN = (
    "I love sci-fi movies.",
    "I can't stand horror films.",
    "My favourite movie is Alien.",
    "I saw a movie with my mom yesterday.",
    "I live in Leeds.",
)
ZH_TASTES = {"用户喜欢科幻电影", "用户不喜欢恐怖电影", "用户希望推荐时长在120分钟以内的电影"}
EN_TASTES = {"User loves sci-fi movies", "User cannot stand horror films", "User's favourite movie is Alien"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder="none") as memory:
        for user, said in (("zh", ZH), ("en", EN)):
            for text in said:
                memory.add(text, user_id=user)
        yield memory


def everything(memory: Memory, user: str) -> set[str]:
    return {item["memory"] for item in memory.get_all(user_id=user, include="all", limit=100)["results"]}


@pytest.mark.parametrize(
    "asked",
    [
        "忘记我说过的所有关于电影偏好的内容",
        "请忘记我说过的所有关于电影偏好的内容。",
        "把我对电影的喜好都忘掉",
        "忘掉我的电影口味吧",
        "别再记得我喜欢什么电影",
        "删除关于我的电影喜好的所有记忆",
    ],
)
def test_film_preferences_are_listed_and_the_confirming_call_deletes_them(memory: Memory, asked: str) -> None:
    found = memory.forget(asked, user_id="zh")
    shown = {item["memory"] for item in found["candidates"]}
    assert shown >= ZH_TASTES
    assert "我昨天和妈妈看了电影" in {item["memory"] for item in found["perhaps"]}
    done = memory.forget(confirm=found["confirm"], user_id="zh")
    assert done["memories"] == len(ZH_TASTES)
    left = everything(memory, "zh")
    assert left == {"我昨天和妈妈看了电影", "我住在上海", "用户住在上海"}
    memory.undo(done["change_id"])
    assert everything(memory, "zh") >= ZH_TASTES | set(ZH)


@pytest.mark.parametrize(
    "asked",
    [
        "Forget everything I said about my movie preferences",
        "Please forget my film preferences.",
        "forget my taste in movies",
        "Can you forget what kind of movies I like?",
        "delete my preferences for movies please",
        "forget all my likes and dislikes in movies",
    ],
)
def test_movie_preferences_are_forgotten_in_everyday_words(memory: Memory, asked: str) -> None:
    found = memory.forget(asked, user_id="en")
    assert {item["memory"] for item in found["candidates"]} >= EN_TASTES
    done = memory.forget(confirm=found["confirm"], user_id="en")
    assert done["memories"] == len(EN_TASTES)
    assert everything(memory, "en") == {
        "I saw a movie with my mom yesterday.",
        "I live in Leeds.",
        "User lives in Leeds",
    }


def test_nothing_of_anybody_else_is_touched_and_nothing_happens_without_the_token(memory: Memory) -> None:
    before = everything(memory, "en")
    found = memory.forget("忘记我说过的所有关于电影偏好的内容", user_id="zh")
    assert everything(memory, "zh") >= set(ZH)
    memory.forget(confirm=found["confirm"], user_id="zh")
    assert everything(memory, "en") == before


def test_a_whole_topic_still_means_all_that_says_it(memory: Memory) -> None:
    found = memory.forget("忘记我说过的关于电影的内容", user_id="zh")
    assert "我昨天和妈妈看了电影" in {item["memory"] for item in found["candidates"]}
