"""What is otherwise now is told in many ways; a memory that it can mean is closed, and nothing else is."""

from __future__ import annotations

import asyncio

import pytest

from ebbing import Memory
from evals import conflicts
from evals.extraction import LANGUAGES
from tests.acceptance.telling import current


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("We deploy on Fridays", "we deploy on Mondays now", "User deploys on Mondays now"),
        ("我们每周五发版", "现在改成周一发版", "用户现在改成周一发版"),
        ("My camera is a Nikon", "I switched my camera to Sony", "User switched their camera to Sony"),
        ("我们团队用的是SVN", "团队换成Git了", None),
        ("I code mostly in Java", "I mostly write Go these days", "User mostly writes Go these days"),
        ("我主要写Java", "现在主要写Go", "用户现在主要写Go"),
        ("I rent a two-bed in Clapham", "I've moved to Derby", "User has moved to Derby"),
        ("我在减肥", "减肥成功了", "用户减肥成功了"),
        ("I always have porridge for breakfast", "I have eggs for breakfast now", "User has eggs for breakfast now"),
        ("我早餐都喝粥", "现在早餐改吃鸡蛋了", None),
        ("We're getting married in May", "the wedding's been postponed to September", None),
        ("I'm on a gluten free diet", "I can eat gluten again", None),
        ("I'm with Vodafone", "I changed my network to EE", None),
        ("I use Notion for notes", "I don't use Notion anymore", "User does not use Notion anymore"),
        ("I've got a golden retriever", "We had to rehome the dog", None),
        ("我上下班坐地铁", "现在改骑电动车上下班了", None),
        ("我爸住院了", "我爸出院了", None),
        ("我欠银行二十万房贷", "房贷还清了", None),
        ("I commute to London every day", "I only go into London twice a week now", None),
        ("我每天去公司坐班", "现在每周只去公司两天", None),
        ("I'm the assistant manager", "they made me manager", None),
        ("My fiancé is called Ben", "Ben and I got married in April", None),
        ("I'm self-employed", "I took a permanent job at the council", None),
        ("我想学开车", "我驾照拿到了", None),
        ("My job title is product manager", "My title changed to head of product", None),
        ("我和妻子住在西湖区", "我已经搬到上海了", "用户已经搬到上海了"),
        ("I live with my wife in Boston", "I moved to Denver", "User moved to Denver"),
        ("I'm 30", "31 now, yikes", "User is 31"),
        ("我养了一只狗叫旺财", "旺财去世了", None),
    ],
)
def test_what_is_otherwise_now_closes_what_it_replaces(
    memory: Memory, before: str, after: str, kept: str | None
) -> None:
    [old] = current(memory, before)
    known = current(memory, after)
    assert old not in known
    assert kept is None or kept in known


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I'm allergic to nuts and shrimp", "I'm no longer allergic to nuts"),
        ("I'm on a gluten free diet", "My sister can eat gluten again"),
        ("我和妻子住在一起", "我已经搬到上海了"),
        ("我住在上海", "上海下雨了"),
        ("我家狗叫旺财", "旺财搬到上海了"),
        ("我明天上午有个面试", "明天的会改到下午四点了"),
        ("We're going to Spain in July", "I'm going to Rome now"),
        ("I weigh 92 kg", "12 kg now"),
        ("I play chess", "I play poker now"),
        ("I like tea", "I like coffee these days"),
        ("I use VS Code", "I use Firefox now"),
        ("I code in Python", "I go swimming these days"),
        ("I work at Huawei", "My phone is a Samsung now"),
        ("My camera was a present from my dad", "I switched my camera to Sony"),
        ("I live in Leeds", "We migrated to Postgres"),
        ("I rent a flat in Leeds", "I work in Bradford now"),
        ("I'm 17", "我的火车是18:05"),
        ("I eat out every day", "I go swimming twice a week now"),
        ("I live in Denver", "No, sorry, her name is Claire with an i"),
        ("My car is a Mini", "Actually it's spelled John"),
        ("I live in Leeds", "I work in Leeds now"),
        ("My internet is with Virgin", "I moved the planter to the balcony"),
        ("I work at a school", "the school was closed today because of snow"),
        ("I get up at 7 on weekdays", "I get up at 9 on weekends now"),
        ("我怀孕五个月了", "科二改约到十二月"),
        ("我在深圳上班", "我现在在深圳读书"),
        ("我周三去攀岩", "现在周四跑步"),
        ("我在读博", "我现在跑网约车"),
        ("我有一台缝纫机", "我手机丢了"),
        ("我九岁的时候摔断过锁骨", "我摔断了腿"),
        ("我喜欢喝茶", "现在喜欢喝咖啡"),
        ("我用VSCode", "浏览器换成Chrome了"),
        ("我老家在赣州", "我现在在东莞打工"),
        ("My grandmother was born in Kraków", "My grandmother died last year"),
    ],
)
def test_what_may_be_so_beside_it_stays(memory: Memory, before: str, after: str) -> None:
    known = current(memory, before)
    assert set(known) <= set(current(memory, after))


def test_where_two_memories_could_be_meant_none_is_closed(memory: Memory) -> None:
    both = current(memory, "My camera is a Nikon", "My camera is insured with Aviva")
    assert len(both) == 2
    assert set(both) <= set(current(memory, "I switched my camera to Sony"))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("I'm from Spain", "sorry, I meant Portugal, not Spain", "User is from Portugal"),
        ("I'm 34", "Sorry I meant 43, not 34", "User is 43"),
        ("My name is Jon", "Actually it's spelled John", "User's name is John"),
        ("我妹妹叫小颖", "打错了，是小莹", "用户的妹妹叫小莹"),
        ("我今年34", "写反了，是43不是34", "用户今年43"),
    ],
)
def test_a_message_that_only_puts_the_last_one_right_gives_it_in_the_right_words(
    memory: Memory, before: str, after: str, kept: str
) -> None:
    assert current(memory, before, after) == [kept]


def test_within_one_call_what_was_wrong_is_not_kept_at_all(memory: Memory) -> None:
    said = ["I'm from Spain", "sorry, I meant Portugal, not Spain"]
    memory.add([{"role": "user", "content": text} for text in said], user_id="ann")
    assert [item["memory"] for item in memory.get_all(user_id="ann")["results"]] == ["User is from Portugal"]


@pytest.mark.parametrize(
    "after", ["no it's fine", "I mean it", "sorry, I meant the other one", "it's not that bad, actually"]
)
def test_what_only_sounds_like_a_correction_changes_nothing(memory: Memory, after: str) -> None:
    assert current(memory, "I live in Leeds", after) == ["User lives in Leeds"]


def test_a_correction_that_names_no_wrong_word_speaks_of_the_last_message_only(memory: Memory) -> None:
    known = current(memory, "My name is Jon", "what is the capital of Peru?", "Actually it's spelled Lima")
    assert known == ["User's name is Jon"]


@pytest.mark.slow
def test_in_a_full_memory_as_much_is_superseded_and_nothing_else_is_lost() -> None:
    scores = asyncio.run(conflicts.measure("none", crowd=True))
    for language in LANGUAGES:
        score = scores[language, conflicts.CROWD]
        assert score.recall >= 0.85, (language, score.as_dict())
        assert score.lost / (score.updates + score.compatible) <= 0.01, (language, score.as_dict())
