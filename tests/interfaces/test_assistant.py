"""`memory.assistant`: what is known of a person decides when to recall, who answers, what is offered and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ebbing import Memory
from ebbing.errors import InvalidInputError

SAYS = {
    "en": [
        "I love science fiction films and jazz.",
        "I hate horror movies.",
        "I'm allergic to peanuts.",
        "Please answer in French, at most 50 words.",
        "I only watch videos under 20 minutes.",
        "I never watch films longer than 2 hours.",
        "My budget for dinner is 30 euros.",
    ],
    "zh": [
        "我喜欢科幻电影和爵士乐。",
        "我讨厌恐怖片。",
        "我海鲜过敏，别推荐海鲜。",
        "请用中文回答，简短一点。",
        "我只看20分钟以内的视频。",
        "我不看超过120分钟的电影。",
    ],
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.from_config({"store": "ephemeral", "embedder": "none"}) as opened:
        for user, sentences in SAYS.items():
            for sentence in sentences:
                opened.add(sentence, user_id=user)
        yield opened


# ── when to recall ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_general_agent_is_given_only_what_surely_answers(memory: Memory) -> None:
    sure = memory.assistant.recall("What am I allergic to?", user_id="en")
    assert (sure["inject"], sure["reason"]) == (True, "sure")
    assert "peanuts" in sure["context"]
    assert all(item["score"] >= 0.8 for item in sure["memories"])
    unsure = memory.assistant.recall("Write a haiku about snow.", user_id="en")
    assert unsure == {"inject": False, "reason": "nothing", "context": "", "memories": []}


@pytest.mark.parametrize("agent", ["personal", "recommendation"])
def test_an_agent_that_lives_from_knowing_the_person_is_always_given_the_profile(memory: Memory, agent: Any) -> None:
    answer = memory.assistant.recall("晚饭推荐什么？", agent=agent, user_id="zh")
    assert (answer["inject"], answer["reason"]) == (True, "always")
    assert "海鲜" in answer["context"]
    nobody = memory.assistant.recall("晚饭推荐什么？", agent=agent, user_id="nobody")
    assert (nobody["inject"], nobody["reason"]) == (False, "nothing")


def test_an_agent_with_tools_asks_for_itself(memory: Memory) -> None:
    answer = memory.assistant.recall("What am I allergic to?", agent="tool", user_id="en")
    assert answer == {"inject": False, "reason": "tools", "context": "", "memories": []}


# ── who answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_worker_for_a_favourite_answers_with_filters_and_numbers(memory: Memory) -> None:
    route = memory.assistant.route({"science fiction": "movies:scifi"}, default="movies", topic="films", user_id="en")
    assert (route["worker"], route["favourite"]) == ("movies:scifi", "science fiction")
    assert "jazz" in route["prefer"]
    assert {"peanuts", "horror"} <= set(route["exclude"])
    assert route["filters"] == {"max_duration": 120}


def test_limits_that_speak_of_the_topic_count_else_the_strictest(memory: Memory) -> None:
    def filters(topic: str | None, user: str = "en") -> dict[str, float]:
        return memory.assistant.route({}, default="any", topic=topic, user_id=user)["filters"]

    assert filters("videos") == {"max_duration": 20}
    assert filters("dinner") == {"max_price": 30}
    assert filters(None) == {"max_duration": 20, "max_price": 30}
    assert filters("电影", "zh") == {"max_duration": 120}
    assert filters("视频", "zh") == {"max_duration": 20}


def test_without_a_favourite_the_default_answers(memory: Memory) -> None:
    route = memory.assistant.route({"opera": "music:opera"}, default="music", user_id="nobody")
    assert route == {"worker": "music", "favourite": None, "prefer": [], "exclude": [], "filters": {}}


# ── what is offered ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_constraints_exclude_is_dropped_and_favourites_are_lifted(memory: Memory) -> None:
    films = [
        {"text": "A horror film", "score": 0.9, "duration": 90},
        {"text": "A science fiction film", "score": 0.7, "duration": 115, "id": 7},
        {"text": "A long documentary", "score": 0.9, "duration": 180},
        {"text": "A drama", "score": 0.8},
    ]
    answer = memory.assistant.rank(films, topic="films", user_id="en")
    assert [offer["item"] for offer in answer["offers"]] == [films[1], films[3]]
    assert answer["offers"][0]["score"] == pytest.approx(0.7 * 1.2)
    assert answer["offers"][0]["favourite"] == "science fiction"
    assert {item["item"]["text"]: item["reason"] for item in answer["dropped"]} == {
        "A horror film": "horror",
        "A long documentary": "max_duration",
    }


def test_what_harms_is_dropped_in_both_languages(memory: Memory) -> None:
    dishes = [{"text": text} for text in ("清蒸大闸蟹", "番茄炒蛋", "shrimp dumplings")]
    assert [offer["item"]["text"] for offer in memory.assistant.rank(dishes, user_id="zh")["offers"]] == ["番茄炒蛋"]


def test_what_a_person_set_right_by_hand_counts() -> None:
    with Memory.from_config({"store": "ephemeral", "embedder": "none"}) as memory:
        memory.add("I love jazz.", user_id="emma")
        memory.profiles.update(unset=["preferences.jazz"], user_id="emma")
        [offer] = memory.assistant.rank([{"text": "A jazz concert"}], user_id="emma")["offers"]
        assert offer["favourite"] is None


@pytest.mark.parametrize("items", ["text", [{"score": 1}], [{"text": "x", "price": "cheap"}], [{"text": "x"}] * 1_001])
def test_items_that_cannot_be_read_are_refused(memory: Memory, items: Any) -> None:
    with pytest.raises(InvalidInputError):
        memory.assistant.rank(items, user_id="en")


# ── how it is said ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_language_tone_and_length_come_from_what_the_person_asked_for(memory: Memory) -> None:
    style = memory.assistant.style(user_id="en")
    assert style["hints"] == ["Answer in French.", "Use at most 50 words."]
    assert (style["language"], style["max_words"], style["brief"]) == ("french", 50, False)
    assert memory.assistant.style(language="zh", user_id="zh")["hints"] == ["请用中文回答。", "请简短回答。"]
    assert memory.assistant.style(user_id="nobody")["hints"] == []
