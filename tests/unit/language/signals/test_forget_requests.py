"""What people ask to have forgotten is read from how they ask, in Chinese and English."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import Role
from ebbing.language.signals.forget_requests import asked_to_forget, terms_of, topic
from ebbing.language.signals.related_words import related_to

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def named(request: str) -> list[str]:
    return [one.text for one in asked_to_forget(request, now=NOW).topics]


@pytest.mark.parametrize(
    ("request_text", "about"),
    [
        ("忘记我说过的关于电影的内容", "电影"),
        ("请忘记我说过的关于电影的内容。", "电影"),
        ("把我说过的关于前任的话都忘掉", "前任"),
        ("帮我把关于前任的事都删掉吧", "前任"),
        ("忘了我前任", "前任"),
        ("忘掉我的工作吧，谢谢", "工作"),
        ("删除所有关于小明的记忆", "小明"),
        ("忘记我跟你说过的生病的事", "生病"),
        ("麻烦你把跟我体重有关的信息都删掉", "体重"),
        ("别再记得我的地址", "地址"),
        ("不要再记住我的电话号码了", "电话号码"),
        ("我希望你忘掉我讲过的有关赌博的一切", "赌博"),
        ("关于我妈妈的事情全部忘掉", "妈妈"),
        ("忘记我喜欢爵士乐", "喜欢爵士乐"),
        ("电影", "电影"),
        ("我的前任", "前任"),
        ("forget what I said about my ex", "ex"),
        ("Please forget everything I told you about my ex!", "ex"),
        ("Could you please delete all memories about Titanic?", "titanic"),
        ("forget about my ex", "ex"),
        ("forget my ex, please", "ex"),
        ("forget that I like jazz", "i like jazz"),
        ("Forget the fact that I live in Leeds", "i live in leeds"),
        ("delete everything you know about my job, please", "job"),
        ("stop remembering my weight", "weight"),
        ("I don't want you to remember my address", "address"),
        ("forget all the things I've ever mentioned concerning my health issues", "health issues"),
        ("what I said about money", "money"),
        ("everything about our trip", "trip"),
        ("erase my phone number", "phone number"),
        ("movies", "movies"),
        ("my ex-boyfriend Tom", "ex-boyfriend tom"),
        ("OK, just forget whatever I said regarding the lawsuit now", "lawsuit"),
    ],
)
def test_the_topic_is_read_from_the_request(request_text: str, about: str) -> None:
    assert named(request_text) == [about]


@pytest.mark.parametrize(
    "request_text",
    [
        "别忘了我妈妈的生日",
        "千万不要忘记我对花生过敏",
        "请你不要忘了这件事",
        "不许删我的照片",
        "记得我喜欢猫",
        "don't forget my mum's birthday",
        "Please do not forget that I am allergic to nuts",
        "never forget that I'm allergic to peanuts",
        "you must never delete my notes",
        "remember that I like tea",
    ],
)
def test_a_wish_to_keep_something_forgets_nothing(request_text: str) -> None:
    with pytest.raises(InvalidInputError, match="asks to keep"):
        asked_to_forget(request_text, now=NOW)


@pytest.mark.parametrize(
    "request_text",
    [
        *(
            "忘记一切",
            "忘记关于我的一切",
            "全部忘掉",
            "忘了吧",
            "忘了",
            "的",
            "forget everything",
            "forget it",
            "forget",
        ),
        *("Forget me!", "forget everything about me", "delete our whole conversation", "forget that", "..."),
        "forget the thing",
    ],
)
def test_a_request_that_names_nothing_or_everything_is_refused(request_text: str) -> None:
    with pytest.raises(InvalidInputError, match="what is to be forgotten"):
        asked_to_forget(request_text, now=NOW)


@pytest.mark.parametrize(
    ("request_text", "about", "first", "last"),
    [
        ("忘记我昨天说过的关于我前任的事", ["前任"], "2026-05-19", "2026-05-20"),
        ("把我上周说的都忘了", [], "2026-05-11", "2026-05-18"),
        ("刚才说的忘了吧", [], "2026-05-20", "2026-05-20"),
        ("can you forget what I said yesterday about my boss?", ["boss"], "2026-05-19", "2026-05-20"),
        ("forget what I told you last week", [], "2026-05-11", "2026-05-18"),
        ("forget everything from last week", [], "2026-05-11", "2026-05-18"),
        ("forget what I just said", [], "2026-05-20", "2026-05-20"),
    ],
)
def test_the_time_of_saying_narrows_the_request(request_text: str, about: list[str], first: str, last: str) -> None:
    asked = asked_to_forget(request_text, now=NOW)
    assert [one.text for one in asked.topics] == about
    [(start, end)] = asked.spans
    assert (start.date().isoformat(), end.date().isoformat()) == (first, last)
    assert start < NOW


def test_the_time_of_a_trip_is_not_the_time_of_telling() -> None:
    asked = asked_to_forget("forget the trip to Rome last week", now=NOW)
    assert ([one.text for one in asked.topics], asked.spans) == (["trip to rome"], ())


@pytest.mark.parametrize(
    ("request_text", "stays"),
    [
        ("忘记关于电影的内容，除了泰坦尼克号以外", ["泰坦尼克号"]),
        ("除了泰坦尼克号以外，忘记我说过的关于电影的内容", ["泰坦尼克号"]),
        ("forget what I said about movies except Titanic", ["titanic"]),
        ("forget everything about movies, but not what I said about Titanic", ["titanic"]),
    ],
)
def test_what_is_excepted_from_a_request_stays(request_text: str, stays: list[str]) -> None:
    asked = asked_to_forget(request_text, now=NOW)
    assert [one.text for one in asked.excepted] == stays
    assert [one.text for one in asked.topics] in (["电影"], ["movies"])


def test_a_list_is_one_topic_and_may_be_several() -> None:
    for request_text, parts in (("忘记电影和音乐", ["电影", "音乐"]), ("forget cats and dogs", ["cats", "dogs"])):
        asked = asked_to_forget(request_text, now=NOW)
        assert len(asked.topics) == 1
        assert [one.text for one in asked.parts] == parts


def test_only_the_assistants_words_are_meant_where_somebody_says_so() -> None:
    assert asked_to_forget("你说过的关于投资的建议都忘掉", now=NOW).speaker is Role.ASSISTANT
    assert asked_to_forget("forget what you said about stocks", now=NOW).speaker is Role.ASSISTANT
    assert asked_to_forget("forget what I said about stocks", now=NOW).speaker is None, "an answer repeats it"


@pytest.mark.parametrize(
    ("about", "text", "says"),
    [
        ("my ex", "My ex still has my records.", True),
        ("my ex", "I exercise daily.", False),
        ("movies", "I watched a movie.", True),
        ("我的电影", "昨天看的电影让我哭了", True),
        ("电影", "我买了一辆电动车，影子很长", False),
        ("猫", "我家的猫睡了", True),
        ("我前任", "前任经理很严格", True),
        ("电影院的工作", "我在电影院找到了工作", True),
        ("trip to Rome", "Rome was the best trip", True),
        ("trip to Rome", "Rome was not built in a day", False),
    ],
)
def test_a_text_says_a_topic_when_it_holds_all_that_the_topic_names(about: str, text: str, says: bool) -> None:
    found = topic(about)
    assert found is not None
    assert found.is_said_in(terms_of(text)) is says


@pytest.mark.parametrize(
    ("about", "text", "word"),
    [
        ("job", "My boss wants me to lead the night shift.", "boss"),
        ("ex", "Tom and I broke up in March.", "broke up"),
        ("phone number", "You can call me at 555 0199.", "call me at"),
        ("电影", "周五我们去影院看了首映", "影院"),
        ("前任", "我和小李三月份分手了", "分手"),
        ("狗", "我在球场吃了热狗", None),
        ("酒", "我们订了一家酒店", None),
        ("job", "I like jazz", None),
    ],
)
def test_words_that_have_to_do_with_a_topic_are_known(about: str, text: str, word: str | None) -> None:
    group = related_to(about)
    assert group is not None
    assert group.word_in(text) == (None if word is None else " ".join(map(str, word.split())))


def test_a_topic_that_nobody_foresaw_has_no_such_words() -> None:
    assert related_to("beekeeping") is None
    assert related_to("养蜂") is None


@pytest.mark.parametrize(
    "hostile",
    [
        *("忘记" * 250, "说过的关于" * 100, "forget everything i said about " * 20, "except " * 80, "的" * 500),
        *("除了" * 250, "forget " + "a " * 240, "please " * 80, "把" * 400 + "忘了", "我" * 400 + "说过的"),
        "\ud800\x00forget",
    ],
)
def test_a_hostile_request_is_read_or_refused_in_no_time(hostile: str) -> None:
    began = time.thread_time()
    with suppress(InvalidInputError):
        asked_to_forget(hostile, now=NOW)
    assert time.thread_time() - began < 1.0
