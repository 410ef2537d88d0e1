"""What recent texts are about, and what they cost a model."""

from __future__ import annotations

import pytest

from ebbing.language.text.token_count import estimate_tokens
from ebbing.language.wording.topics import topics


def test_what_several_texts_name_comes_first() -> None:
    texts = ["用户喜欢科幻电影", "用户下周三要面试腾讯", "用户担心面试", "用户对海鲜过敏"]
    assert topics(texts)[0] == "面试"
    assert {"科幻电影", "海鲜"} <= set(topics(texts))
    english = ["User is preparing for a job interview at Siemens", "The job interview went well", "User loves tea"]
    assert topics(english)[:2] == ["job interview", "Siemens"]


def test_a_title_is_taken_whole_and_a_name_beats_a_word() -> None:
    assert topics(["用户在看《三体》"]) == ["三体"]
    assert topics(["User went hiking with Anna"], count=1) == ["Anna"]


def test_of_equal_topics_the_newer_comes_first_and_none_contains_another() -> None:
    assert topics(["User bought a guitar", "User bought a piano"]) == ["guitar", "piano"]
    assert topics(["科幻电影", "科幻电影院"]) == ["科幻电影"]


def test_texts_without_a_topic_have_none() -> None:
    assert topics([]) == []
    assert topics(["你还记得吗？", "What did you do then?", "😀 !!"]) == []


def test_no_more_topics_come_than_were_asked_for() -> None:
    assert len(topics(["tea, coffee, milk, bread, butter, cheese, jam"], count=3)) == 3


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   ", 0),
        ("hello world", 3),  # 2.6
        ("用户住在杭州", 6),
        ("用户住在杭州。", 7),
        ("我用 Python 3", 4),  # 2 + 1.3 + 0.5
        ("2024-05-01", 5),  # eight digits and two marks
        ("x" * 400, 100),
        ("😀", 2),
        ("a\nb", 4),  # 1.3 + 0.5 + 1.3
    ],
)
def test_the_estimate_of_tokens_follows_its_stated_rule(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
