"""What is known of a person shapes who answers, what is offered and how it is said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ebbing.assistant import choose_worker, generation_hints, rank_offers, tastes_of
from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.preferences import Manner, Tastes, mentions, read_tastes

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def said(
    text: str, type: MemoryType = MemoryType.PREFERENCE, *, day: int = 0, tags: tuple[str, ...] = ()
) -> MemoryRecord:
    at = NOW + timedelta(days=day)
    return MemoryRecord(text, Scope(user_id="u"), text, created_at=at, recorded_at=at, type=type, tags=tags)


def offered(tastes: Tastes, *texts: str) -> list[str]:
    return [one.item for one in rank_offers(texts, tastes, text=str, score=lambda _: 0.5)]


@pytest.mark.parametrize(
    ("statement", "likes", "dislikes", "avoids"),
    [
        ("用户海鲜过敏,别推荐海鲜", (), (), ("海鲜",)),
        ("用户对花生和牛奶过敏", (), (), ("牛奶", "花生")),
        ("用户不喜欢恐怖片", (), ("恐怖",), ()),
        ("用户最喜欢的电影是星际穿越", ("星际穿越",), (), ()),
        ("用户不吃香菜", (), ("香菜",), ()),
        ("User is allergic to peanuts and shellfish", (), (), ("shellfish", "peanuts")),
        ("User has a nut allergy", (), (), ("nut",)),
        ("User hates horror movies", (), ("horror",), ()),
        ("User doesn't like jazz", (), ("jazz",), ()),
        ("User's favourite food is sushi", ("sushi",), (), ()),
        ("User's rule: please do not recommend seafood", (), ("seafood",), ()),
        ("User no longer likes coffee", (), (), ()),
        ("用户不再喜欢咖啡", (), (), ()),
        ("User would like a refund", (), (), ()),
        ("用户住在杭州", (), (), ()),
    ],
)
def test_a_statement_tells_what_is_liked_disliked_or_avoided(
    statement: str, likes: tuple[str, ...], dislikes: tuple[str, ...], avoids: tuple[str, ...]
) -> None:
    tastes = read_tastes([statement])
    assert (tastes.likes, tastes.dislikes, tastes.avoids) == (likes, dislikes, avoids)


def test_a_later_word_about_the_same_thing_counts_whatever_the_order_of_the_records() -> None:
    records = [said("User hates jazz", day=9), said("User likes jazz", day=1), said("User loves tea", day=2)]
    assert tastes_of(records) == Tastes(likes=("tea",), dislikes=("jazz",))


def test_an_appetite_does_not_end_an_allergy() -> None:
    assert read_tastes(["User is allergic to peanuts", "User loves peanuts"]).avoids == ("peanuts",)
    assert read_tastes(["User is allergic to peanuts", "User loves peanuts"]).likes == ()


def test_only_what_was_said_as_a_preference_or_rule_counts() -> None:
    assert tastes_of([said("User hates rain today", MemoryType.EPISODIC)]) == Tastes()
    assert tastes_of([said("用户海鲜过敏", MemoryType.FACT, tags=("fact", "health"))]).avoids == ("海鲜",)


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("清蒸大闸蟹", "海鲜"), ("grilled prawns", "seafood"), ("三文鱼刺身", "seafood"), ("Peanut butter", "peanuts"),
        ("almond cake", "nuts"), ("Sci-Fi classics", "科幻"), ("Two eggs", "egg"), ("麻辣火锅", "辣"),
    ],
)  # fmt: skip
def test_a_kind_is_named_by_its_members_in_either_language(text: str, thing: str) -> None:
    assert mentions(text, thing)


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("不含花生的饼干", "花生"), ("peanut-free bar", "peanuts"), ("pasta without nuts", "nuts"),
        ("doughnut", "nuts"), ("hamlet, the play", "ham"), ("番茄沙拉", "海鲜"),
    ],
)  # fmt: skip
def test_what_is_free_of_it_or_only_looks_like_it_is_not_named(text: str, thing: str) -> None:
    assert not mentions(text, thing)


def test_free_of_one_thing_does_not_excuse_another_mention() -> None:
    assert mentions("不含花生，但加了花生油", "花生")


def test_what_must_be_avoided_or_is_disliked_is_never_offered() -> None:
    tastes = tastes_of([said("用户海鲜过敏,别推荐海鲜", MemoryType.CONSTRAINT), said("用户不喜欢香菜")])
    assert offered(tastes, "清蒸鲈鱼", "番茄炒蛋", "香菜拌牛肉", "shrimp dumplings") == ["番茄炒蛋"]


def test_a_vegetarian_is_offered_no_meat() -> None:
    tastes = tastes_of([said("User is vegetarian", MemoryType.CONSTRAINT)])
    assert offered(tastes, "Beef stew", "Lentil curry", "Salmon salad", "番茄炒蛋", "红烧肉") == [
        "Lentil curry",
        "番茄炒蛋",
    ]


def test_favourites_count_a_fifth_more_and_may_overtake() -> None:
    found = {"A western": 0.55, "Sci-Fi night": 0.5, "A comedy": 0.3}
    best = rank_offers(list(found), Tastes(likes=("科幻", "sci-fi")), text=str, score=found.__getitem__)
    assert [(one.item, one.favourite) for one in best] == [
        ("Sci-Fi night", "科幻"), ("A western", None), ("A comedy", None),
    ]  # fmt: skip
    assert best[0].score == pytest.approx(0.6)  # once, not once for each favourite


def test_a_favourite_picks_the_worker_and_taste_becomes_filters() -> None:
    tastes = Tastes(likes=("科幻电影",), dislikes=("恐怖",), avoids=("海鲜",))
    routed = choose_worker(tastes, {"科幻": "movies:scifi", "爱情": "movies:romance"}, default="movies")
    assert (routed.worker, routed.favourite) == ("movies:scifi", "科幻电影")
    assert (routed.prefer, routed.exclude) == (("科幻电影",), ("海鲜", "恐怖"))


def test_without_a_fitting_favourite_the_default_worker_answers() -> None:
    routed = choose_worker(Tastes(likes=("tea",)), {"sci-fi": "movies:scifi"}, default="movies")
    assert (routed.worker, routed.favourite) == ("movies", None)


def test_how_somebody_wants_to_be_answered_becomes_hints() -> None:
    records = [
        said("用户要求:请用中文回答,简短一点", MemoryType.PROCEDURAL),
        said("用户要求:请不要超过200字", MemoryType.CONSTRAINT),
        said("用户喜欢正式一点的语气"),
    ]
    hints = generation_hints(tastes_of(records), "zh")
    assert hints == ["请用中文回答。", "语气要正式。", "不超过200个字。", "请简短回答。"]


def test_the_latest_wish_about_an_answer_counts() -> None:
    early = said("Please answer in French in at most 50 words", MemoryType.PROCEDURAL)
    late = replace(said("Please answer in English", MemoryType.PROCEDURAL, day=3), id="2")
    tastes = tastes_of([late, early])
    assert tastes.manner == Manner(language="english", max_words=50)
    assert generation_hints(tastes) == ["Answer in English.", "Use at most 50 words."]


def test_nothing_known_gives_no_hints() -> None:
    assert generation_hints(Tastes(), "en") == []
