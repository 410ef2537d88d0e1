"""What people say in idioms, or without a subject, in the plain words that the other rules know."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard


def read(text: str) -> list[str]:
    """The wordings that the rules make of a message of the user."""
    return [fact.text for fact in heard(text)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("you can't beat a hot bath", "User loves a hot bath"),
        ("trains over planes any day", "User prefers trains over planes"),
        ("I never saw the appeal of golf", "User dislikes golf"),
        ("opera bores me to tears", "User dislikes opera"),
        ("the consultant says it's gout", "User was diagnosed with gout"),
        ("chucked the treadmill", "User chucked the treadmill"),
        ("I'm B positive", "User's blood type is B positive"),
        ("我是稀有的AB型阴性", "用户的血型是AB型阴性"),
        ("其实真名是李雷，笔名才叫阿木", "用户的名字叫李雷"),
        ("我是熊猫血", "用户的血型是熊猫血"),
        ("my place is in Ghent", "User lives in Ghent"),
        ("没什么比得上桂花糕", "用户喜欢桂花糕"),
        ("让我唱歌还不如让我洗碗", "用户讨厌唱歌"),
        ("围棋越下越没意思，戏曲越听越上瘾", "用户现在喜欢戏曲了"),
        ("雅思终于过了", "用户通过了雅思"),
        ("可乐已经戒掉了", "用户戒可乐了"),
    ],
)
def test_a_saying_is_read_in_plain_words(said: str, meant: str) -> None:
    assert meant in read(said)


@pytest.mark.parametrize(
    "said",
    ["以一位老船长的口吻写一段开场白", "咱们来演一段，我在镇上开铁匠铺", "give me a second", "nothing beats that"],
)
def test_what_only_sounds_like_one_is_not_kept(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "人在机场了",
        "人在楼下了",
        "人在外地，刚下车",
        "我快到了",
        "我手机快没电了",
        "排了半天队才买到票",
        "室友在打游戏，吵死了",
        "我儿子在旁边看动画片",
        "我妈刚给我打了个电话",
        "我老公还没下班",
        "孩子睡着了，终于清净了",
        "晚上准备叫个外卖",
    ],
)
def test_what_passes_within_the_hour_is_not_kept(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "听我爸说楼上老李住院了",
        "我邻居家的猫天天叫",
        "楼下理发店老板是湖南人",
        "小区门口新开了家药店",
        "换作是我，早就辞职了",
        "我差点就买了那辆车",
        "我本来想学法律的，没学成",
        "替我回他：我明天没空",
        "故事开头：我叫阿勇，是个水手",
        "用一个老北京的口气夸夸我家的狗",
    ],
)
def test_what_is_of_others_or_never_came_to_be_is_not_kept(said: str) -> None:
    assert read(said) == []


def test_a_time_said_before_who_left_stays_in_the_plain_wording() -> None:
    assert read("跟前女友分了") == ["用户和前女友分手了"]
    assert read("人在无锡了") == ["用户搬到无锡了"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("燕郊太吵，换到通州住了", "用户从燕郊搬到通州了"),
        ("襄阳待腻了，回老家荆门了", "用户从襄阳搬到荆门了"),
        ("跳去比亚迪了", "用户跳槽到比亚迪了"),
        ("工厂那边月底离了", "用户月底（2026-05-21至2026-05-31）从工厂离职了"),
        ("转去做策划了", "用户转行做策划了"),
        ("早离了，娃归我", "用户离婚了"),
        ("糖醋鱼吃腻了", "用户不喜欢糖醋鱼了"),
        ("瑜伽卡没续", "用户不去瑜伽了"),
        ("古筝课不上了", "用户不上古筝课了"),
        ("答辩推到六月二号了", "用户的答辩改到六月二号（2026-06-02）了"),
        ("涨工资了，现在九千五", "用户的月薪现在是九千五"),
        ("瘦到六十公斤了", "用户的体重现在是六十公斤"),
        ("口误，是对芒果过敏，不是桃子", "用户对芒果过敏"),
        ("茶只喝龙井", "用户茶只喝龙井"),
        ("家里两只猫一条狗", "用户养了两只猫一条狗"),
        ("韩语只会打招呼", "用户的韩语只会打招呼"),
        ("下个月五号去桂林", "用户下个月五号（2026-06-05）去桂林"),
        ("在学法律", "用户在学法律"),
        ("颈椎有老毛病", "用户颈椎有老毛病"),
        ("跟公婆一起住", "用户跟公婆一起住"),
    ],
)
def test_what_is_said_in_few_words_is_read_in_whole_ones(said: str, meant: str) -> None:
    assert meant in read(said)


@pytest.mark.parametrize(
    "said",
    ["太远了，来不及了", "外面太吵，换到里面了", "妆卸了", "今天的课不上了"],
)
def test_the_few_words_are_not_heard_where_they_tell_something_else(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("relocated to Utrecht", "User moved to Utrecht"),
        ("down to 74 kg", "User now weighs 74 kg"),
        ("my favorite season's autumn", "User's favorite season is autumn"),
        ("call me Lena, not Magdalena", "User's wish: call them Lena"),
        ("native Welsh speaker", "User is a native Welsh speaker"),
        ("morning person here", "User is a morning person"),
        ("afraid of heights", "User is afraid of heights"),
    ],
)
def test_a_few_english_words_are_read_in_whole_ones(said: str, meant: str) -> None:
    assert meant in read(said)


@pytest.mark.parametrize("text", ["I am a positive person", "my aunt is O negative", "我是A型人格", "小顾血型是B型"])
def test_a_blood_type_is_only_read_of_the_speaker_and_only_where_it_is_one(text: str) -> None:
    assert not [fact for fact in read(text) if "blood type" in fact or fact.startswith("用户的血型")]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("mother of three here", "User is a mother of three"),
        ("not a morning person", "User is not a morning person"),
        ("got burgled in March", "User got burgled in March (March 2026)"),
        ("two kids under five", "User has two kids under five"),
    ],
)
def test_a_clause_without_its_subject_is_the_speakers_own(said: str, meant: str) -> None:
    assert meant in read(said)


@pytest.mark.parametrize(
    "said",
    [
        "restarted it, still broken",
        "tried turning it off and on",
        "can dogs eat grapes",
        "need coffee",
        "sounds like rain",
    ],
)
def test_a_clause_without_its_subject_may_tell_nothing(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("plan me a week of dinners, I'm coeliac", "User is coeliac"),
        ("I drive a Panda with a leaking sunroof, worth fixing?", "User drives a Panda with a leaking sunroof"),
        ("my son's just started nursery", "User's son has just started nursery"),
        ("kiwi makes my lips swell", "User cannot tolerate kiwi"),
        ("there are three hens in our yard", "User has three hens in their yard"),
        ("wednesday evenings I do choir", "User does choir wednesday evenings"),
    ],
)
def test_what_is_told_beside_a_task_or_round_the_corner(said: str, meant: str) -> None:
    assert meant in read(said)
