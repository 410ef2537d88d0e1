"""What a sentence says was done once, and how doing it often is told."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from ebbing.language.signals.activities import read_done, told_as_habit, told_often

NOW = datetime(2026, 3, 6, 20, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("text", "key", "day"),
    [
        ("I bought a latte on Monday", "buy.coffee", 2),
        ("周一买了一杯拿铁", "buy.coffee", 2),
        ("User bought coffee on Monday (2026-03-02)", "buy.coffee", 2),
        ("我今天又买了咖啡", "buy.coffee", 6),
        ("I had a cappuccino this morning", "drink.coffee", 6),
        ("下午喝了杯冰美式", "drink.coffee", 6),
        ("I went running yesterday", "run", 5),
        ("昨天去跑步了", "run", 5),
        ("Went to the gym this morning.", "go to.gym", 6),
        ("昨天打篮球了", "play.basketball", 5),
        ("看了一部电影", "watch.films", 6),
        ("看了一本书", "read.books", 6),
        ("今天加班了", "work overtime", 6),
        ("I cooked pasta", "cook.pasta", 6),
        ("I bought some sandals", "buy.sandal", 6),
    ],
)
def test_a_plain_sentence_says_what_was_done_and_on_which_day(text: str, key: str, day: int) -> None:
    done = read_done(text, said_at=NOW)
    assert done is not None
    assert (done.key, done.day, done.plain) == (key, date(2026, 3, day), True)


@pytest.mark.parametrize(
    "text",
    [
        "今天在星巴克买了一杯拿铁",
        "周五和小明去看电影了",
        "I watched a movie with Anna last night",
        "I ate ramen for lunch in the old town",
        "吃了牛肉面，味道很好",
        "I bought a latte on March 2nd",
        "加班到十点",
    ],
)
def test_what_says_more_is_counted_and_is_not_plain(text: str) -> None:
    done = read_done(text, said_at=NOW)
    assert done is not None
    assert not done.plain


@pytest.mark.parametrize(
    "text",
    [
        "I didn't buy coffee",
        "I buy coffee every day",
        "I will buy coffee tomorrow",
        "I want to go running",
        "明天买咖啡",
        "打算去跑步",
        "我妈妈买了咖啡",
        "My sister bought a latte",
        "I had a meeting",
        "I had an idea",
        "I bought it",
        "I bought a new iPhone 15",
        "I went to Paris",
        "要是买了咖啡就好了",
        "Did I buy coffee?",
        "下午有个会",
        "我给你点个赞",
        "I played a trick",
        "",
        "买",
        "a" * 10_000,
        "买" * 200,
    ],
)
def test_what_did_not_happen_or_is_somebody_elses_or_says_nothing_is_not_counted(text: str) -> None:
    assert read_done(text, said_at=NOW) is None


def test_a_behaviour_is_told_without_its_times() -> None:
    assert told_often("buy.coffee", ["coffee"], language="en", times=3) == "User often buys coffee (3 times)"
    assert told_often("buy.coffee", ["咖啡"], language="zh", times=3) == "用户经常买咖啡 (3 次)"
    assert told_often("buy.coffee", ["拿铁"], language="zh", times=3) == "用户经常买拿铁 (3 次)"
    assert told_often("run", [], language="en", times=4, subject="Mel") == "Mel often goes running (4 times)"


def test_things_of_one_kind_are_told_by_the_kind_and_named_behind_it() -> None:
    told = told_often("buy.coffee", ["latte", "mocha"], language="en", times=5, general=True)
    assert told == "User often buys coffee: latte, mocha (5 times)"
    assert (
        told_often("buy.coffee", ["拿铁", "美式"], language="zh", times=5, general=True)
        == "用户经常买咖啡：拿铁、美式 (5 次)"
    )


def test_a_habit_is_told_with_its_days_and_since_when() -> None:
    since = date(2026, 3, 2)
    assert told_as_habit("buy.coffee", [0, 2, 4], language="en", times=12, since=since) == (
        "User has a habit of drinking coffee, mostly on Mondays, Wednesdays and Fridays (12 times since 2026-03)"
    )
    assert told_as_habit("buy.coffee", [0, 2, 4], language="zh", times=12, since=since) == (
        "用户有喝咖啡的习惯，多在周一、周三、周五 (2026-03 起 12 次)"
    )
    assert told_as_habit("run", [], language="zh", times=8, since=since) == "用户有跑步的习惯 (2026-03 起 8 次)"
