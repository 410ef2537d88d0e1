"""Chinese as it is typed and dictated: blanks for commas, fillers, several facts in a line, stories of others."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard


def read(text: str, *, asked: str | None = None) -> str:
    """What the rules are sure of in a message of the user."""
    return " / ".join(fact.text for fact in heard(text, asked=asked) if fact.confidence >= 0.7)


@pytest.mark.parametrize(
    ("said", "with_commas"),
    [
        ("我媳妇是湖北人 爱吃热干面", "我媳妇是湖北人，爱吃热干面"),
        ("我在药厂上班 两班倒", "我在药厂上班，两班倒"),
        ("我表姐在海口开民宿 生意挺好", "我表姐在海口开民宿，生意挺好"),
        ("房租又涨了 现在三千二", "房租又涨了，现在三千二"),
    ],
)
def test_a_blank_between_clauses_reads_like_a_comma(said: str, with_commas: str) -> None:
    assert read(said)
    assert read(said) == read(with_commas)


def test_the_source_of_a_fact_stays_as_it_was_typed() -> None:
    (fact, *_) = heard("我媳妇是湖北人 爱吃热干面")
    assert fact.source_text == "我媳妇是湖北人 爱吃热干面"


def test_an_answer_may_go_on_after_a_blank() -> None:
    assert "芒果" in read("芒果 还有海鲜", asked="您对什么过敏吗？")


def test_a_long_message_without_a_stop_is_still_read() -> None:
    assert "养了两只猫" in read("我养了两只猫 " + "今天路上堵得厉害 " * 60)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("嗯就是我现在在驾校当教练", "用户现在在驾校当教练"),
        ("那个我在冷库上班", "用户在冷库上班"),
        ("我说一下我的情况啊我是带两个孩子的单亲妈妈", "用户是带两个孩子的单亲妈妈"),
        ("跟你说哈我是做窗帘的", "用户是做窗帘的"),
        ("我是学食品工程的想问一下转行难吗", "用户是学食品工程的"),
        ("我是学园艺的你帮我看看这个方案", "用户是学园艺的"),
    ],
)
def test_what_is_dictated_is_read_without_its_fillers(said: str, kept: str) -> None:
    assert read(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("我有个表姐在海口开民宿", "用户的表姐在海口开民宿"),
        ("我有个朋友叫阿凯 在深圳开滴滴", "用户的朋友在深圳开滴滴"),
        ("我爸再婚了", "用户的爸再婚了"),
    ],
)
def test_what_one_of_the_speakers_people_does_is_theirs(said: str, kept: str) -> None:
    assert kept in read(said)


@pytest.mark.parametrize(
    "said",
    [
        "我有个同事他媳妇天天查他手机",
        "我有个朋友开了三家店 现在欠了一屁股债",
        "我认识一个人养了四条狗",
        "曾经我也想当个诗人",
        "我小时候想当宇航员",
        "我当年差点结婚",
        "我可真行 钥匙放冰箱里了",
        "糖尿病人早餐吃啥好",
        "周末又要下雨",
        "当护士真不容易",
    ],
)
def test_stories_old_wishes_and_sarcasm_are_left(said: str) -> None:
    assert read(said) == ""


@pytest.mark.parametrize("answer", ["不方便说", "保密", "先空着，我自己填"])
def test_a_refusal_is_no_name(answer: str) -> None:
    assert read(answer, asked="您怎么称呼？") == ""


def test_a_deputy_keeps_the_rank() -> None:
    (fact,) = heard("我是副店长")
    assert fact.value == "副店长"


def test_making_jam_is_no_trade() -> None:
    assert "job" not in [fact.attribute for fact in heard("我自己做果酱")]
    assert [fact.rule for fact in heard("我是做果酱的")] == ["zh.by_trade"]


def test_what_a_home_lacks_is_kept() -> None:
    assert read("我家没暖气") == "用户家没暖气"


@pytest.mark.parametrize(
    "said",
    [
        "租房押金一般几个月",
        "孩子几岁可以坐副驾",
        "今年高考作文题是啥",
        "乙肝能吃大闸蟹不",
        "名字改成阿强 职业改成厨师",
        "人物小传：我叫苏瓷，二十六岁，住在江南",
        "来段rap 我从小在街头长大",
        "我家住在黄土高坡 下一句",
        "我姓石 这个梗哪来的",
        "曹操对华佗过敏哈哈",
        "甲每天工作八小时 乙每天工作六小时",
        "星座说我今天有桃花",
        "这博主天天吃炸鸡不胖",
        "我们中国人过年吃饺子",
    ],
)
def test_bare_questions_songs_and_people_of_no_life_here_are_left(said: str) -> None:
    assert read(said) == ""


@pytest.mark.parametrize(
    "said", ["我的手机号换成13800002222", "我姓石", "我家住在黄河边上", "我对花粉过敏", "我爱吃豆腐", "我不能吃辣"]
)
def test_what_only_looks_like_them_is_kept(said: str) -> None:
    assert read(said)


@pytest.mark.parametrize(
    "said",
    [
        "孩子多大能上户口",
        "一个月吃几次火锅合适",
        "我给你出道题 我有两个爸爸两个儿子 共几人",
        "写封家书 我在外地打工",
        "女二号从小寄养在姑姑家",
        "专家建议每天喝八杯水",
        "有个老乡在越南开厂 你说靠谱不",
        "本店周一休息",
    ],
)
def test_riddles_letters_for_others_and_notices_are_left(said: str) -> None:
    assert read(said) == ""


def test_not_passing_an_exam_is_no_however() -> None:
    assert "用户怕用户考" not in [fact.text for fact in heard("我怕我考不过")]
