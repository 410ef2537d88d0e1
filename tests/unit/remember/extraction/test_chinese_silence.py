"""Chinese that sounds like a life and is none of the speaker's own: roles, what others say, work on hand, moments."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard


@pytest.mark.parametrize(
    "said",
    [
        "我是一名女巫，住在森林深处",
        "你当裁缝，我来买衣服",
        "咱们玩狼人杀吧，我先发言",
        "从现在起我们都是企鹅",
        "角色：赵云，25岁，性格豪爽",
        "朕今日心情不错",
    ],
)
def test_a_role_is_not_the_speaker(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "我叫王子豪",
        "我是骑士队球迷",
        "我是做机器人的工程师",
        "我们玩桌游每周五晚上固定开局",
    ],
)
def test_a_speaker_whose_words_sound_like_a_role_is_heard(said: str) -> None:
    assert heard(said)


@pytest.mark.parametrize(
    "said",
    [
        "我舅舅以前常说，知足常乐",
        "我同学跟大家炫耀他考了满分",
        "主持人宣布今晚嘉宾来自重庆",
        "采访里她说自己一天只睡四个小时",
        "我爸总念叨“早点回家”",
    ],
)
def test_what_others_say_is_left(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "哪天要是中奖了，我就回乡下盖房子",
        "就算我是会计，也不想给自己记账",
        "下辈子我要当一只猫",
        "用Java写个贪吃蛇",
        "换成古文的口吻重写一遍",
        "我在第五关卡住了",
        "我选的是第三个选项",
        "四十岁学钢琴晚不晚",
        "习惯了就好",
        "只能硬着头皮上",
        "不聊了，我爸喊我吃饭",
        "周末宅了一天",
    ],
)
def test_a_fancy_a_piece_of_work_or_a_moment_is_left(said: str) -> None:
    assert heard(said) == []


def test_a_habit_that_nothing_stops_is_kept() -> None:
    assert heard("就算再忙，我也每天跑步")


@pytest.mark.parametrize(
    "said",
    [
        "小李跟男朋友领证了",
        "大象主要吃草",
        "泰国人喜欢吃酸辣",
        "梵高生前很穷",
        "今年的桃子比去年酸",
        "地铁三号线又故障了，堵了半天",
        "我在排队做B超",
        "我刚遛完狗",
        "我刚从超市出来，提着两袋米",
        "我煮的面糊了",
        "今天有点咳嗽，吃了片药",
        "就是个普通人",
    ],
)
def test_the_world_others_and_the_moment_are_left(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("十八岁离家打工的", "用户十八岁离家打工的"),
        ("我是两个孩子的妈妈", "用户是两个孩子的妈妈"),
        ("我导师姓陈", "用户的导师姓陈"),
        ("我家在三楼", "用户的家在三楼"),
        ("我是ENFP", "用户是ENFP"),
    ],
)
def test_what_is_of_the_speaker_is_kept(said: str, text: str) -> None:
    assert [fact.text for fact in heard(said)] == [text]
