"""Everyday Chinese: clauses without a subject, facts told beside a request, and what passes or is of others."""

from __future__ import annotations

import pytest

from ebbing.language.text.quotation import quoted_words
from tests.unit.remember.extraction.facts import heard, only


def read(text: str, *, asked: str | None = None) -> list[str]:
    """The wordings that the rules make of a message of the user, and are sure of."""
    return [fact.text for fact in heard(text, asked=asked) if fact.confidence >= 0.7]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("干水电的", "用户干水电的"),
        ("给剧团做灯光", "用户给剧团做灯光"),
        ("念的是职高", "用户念的是职高"),
        ("家里的路由器是水星的", "用户家里的路由器是水星的"),
        ("晚饭一般在单位吃", "用户晚饭一般在单位吃"),
        ("院子里养了三只鹅", "用户在院子里养了三只鹅"),
        ("粤语能听不会讲", "用户粤语能听不会讲"),
        ("隔天游一千米", "用户隔天游一千米"),
        ("睡眠一直很浅", "用户睡眠一直很浅"),
        ("从小是奶奶带大的", "用户从小是奶奶带大的"),
        ("手底下管着九个人", "用户手底下管着九个人"),
    ],
)
def test_how_someone_lives_is_read_without_a_subject(said: str, meant: str) -> None:
    assert meant in read(said)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("中秋结的婚", "用户中秋结的婚"),
        ("十八岁离家打工的", "用户十八岁离家打工的"),
        ("上个月把面馆盘出去了", "把面馆盘出去了"),
        ("高一那年转学到了保定", "高一那年转学到了保定"),
        ("这学期挂了一科", "这学期挂了一科"),
        ("刚生完二胎", "用户刚生完二胎"),
    ],
)
def test_what_happened_in_a_life_is_an_event(said: str, meant: str) -> None:
    fact = only(said)
    assert meant in fact.text
    assert fact.type.value == "episodic"


@pytest.mark.parametrize(
    ("said", "liked"),
    [
        ("蛋糕喜欢少糖的", "少糖的"),
        ("喝茶只认普洱", "普洱"),
        ("吃火锅必点黄喉", "黄喉"),
        ("我对武侠剧百看不厌", "武侠剧"),
        ("山和海我永远选海", "海"),
        ("面要硬，汤要清", "硬"),
    ],
)
def test_a_taste_is_read_where_its_topic_comes_first(said: str, liked: str) -> None:
    facts = [fact for fact in heard(said) if fact.type.value == "preference"]
    assert any(liked in fact.text and (fact.polarity > 0 or quoted_words(fact.text)) for fact in facts)


@pytest.mark.parametrize(
    "said",
    [
        "讲物理题要一步一步来",
        "推荐酒店别推青旅",
        "单位一律用公制",
        "碰到拉丁文术语附上中文",
        "用四川话跟我聊",
        "默认给我Kotlin的例子",
        "我骂人的时候你别跟着骂",
        "跟我说话语气轻松一点",
        "提到钱都换算成人民币",
        "你说话简单点",
    ],
)
def test_a_standing_wish_is_kept_as_a_procedure(said: str) -> None:
    assert [fact.type.value for fact in heard(said)] == ["procedural"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("膝盖不能久蹲", "久蹲"),
        ("头孢不能用", "头孢"),
        ("坐不了过山车", "过山车"),
        ("油要少放", "油要少放"),
        ("医生要我低盐饮食", "低盐饮食"),
    ],
)
def test_what_the_body_does_not_allow_is_a_constraint(said: str, meant: str) -> None:
    fact = only(said)
    assert meant in fact.text
    assert fact.type.value == "constraint"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("帮我写个请假条，我下周三要带我妈去复诊", "复诊"),
        ("给我列个食谱，我痛风，不能吃内脏", "痛风"),
    ],
)
def test_what_is_told_beside_a_request_is_read(said: str, meant: str) -> None:
    assert any(meant in text for text in read(said))


@pytest.mark.parametrize("said", ["我对花生过敏，别个都晓得", "我这人特别个性，对花生过敏"])
def test_a_word_of_dialect_for_others_changes_no_other_word(said: str) -> None:
    texts = read(said)
    assert any("对花生过敏" in text for text in texts)
    assert not any("别人性" in text for text in texts)


@pytest.mark.parametrize(
    "said",
    [
        "给我写个故事，我是一只会飞的狐狸",
        "帮我编个笑话，我是主角",
        "写段台词，我在码头混了三十年",
    ],
)
def test_who_the_speaker_is_in_a_story_is_not_read(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("四十岁，猎人，一个人住在山里", "好的，主角是什么样的人？"),
        ("下雪天，温柔一点", "想要什么主题？"),
        ("我在岛上守了二十年灯塔，女儿在城里教书", "好的，请把原文发给我。"),
    ],
)
def test_an_answer_about_a_piece_of_work_is_not_about_the_speaker(said: str, asked: str) -> None:
    assert read(said, asked=asked) == []


def test_an_answer_about_oneself_is_read_beside_a_piece_of_work() -> None:
    assert "用户在药店上班" in read("我在药店上班", asked="好的，自我介绍要什么风格？")


@pytest.mark.parametrize(
    "said",
    [
        "我在看说明书，第二步不懂",
        "我在写一个注册页面",
        "我在玩第五关，过不去",
        "我找了半天眼镜",
        "狗在啃沙发",
        "老公在打游戏，吵得很",
        "我快崩溃了",
        "换了个浏览器也一样",
        "我搜了一圈没找到",
        "我用递归做的，超时了",
        "我打算把第二段删掉",
        "我打算标题用绿色",
        "别出声，我在录音",
        "不要这么长",
        "刚去门口取了个快递",
        "外卖还没到",
        "嗓子疼",
        "我比较喜欢第三个标题",
    ],
)
def test_what_is_at_hand_or_passes_is_not_kept(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "会计一般都加班",
        "湖南人爱吃辣",
        "痛风分急性和慢性",
        "一战是1918年结束的",
        "成都的火锅最有名",
        "最近鸡蛋涨价了",
        "小明今年九岁，他爸爸三十六岁",
        "客服让我等两天",
        "新闻里说有个老人骑车去了西藏",
        "患者女，52岁，主诉头晕",
        "招聘要求大专以上，会日语",
        "已知我哥比我大6岁，我今年10岁，求哥哥年龄",
        "改写成文言文：我天天读书",
        "哦，痛风不能吃内脏呀",
    ],
)
def test_what_is_of_others_or_of_the_world_is_not_kept(said: str) -> None:
    assert read(said) == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("我住喺荃灣，返工喺觀塘", "觀塘"),
        ("屋企住沙田", "家住沙田"),
        ("我最鍾意食燒鵝", "鍾意食燒鵝"),
        ("我對爵士樂很著迷", "爵士樂"),
    ],
)
def test_what_is_said_in_traditional_characters_stays_in_them(said: str, meant: str) -> None:
    assert any(meant in text for text in read(said))


def test_only_how_long_it_lasted_is_not_a_fact_of_its_own() -> None:
    assert read("我在面馆做拉面，做了十年") == ["用户在面馆做拉面，做了十年"]


@pytest.mark.parametrize(
    ("said", "asked", "meant"),
    [
        ("联想天逸，用了五年，预算四千", "现在用的是什么型号？", "用户用的是联想天逸"),
        ("仓储主管，六年", "请问您目前的职位？", "用户的职位是仓储主管"),
        ("内脏，闻着就难受", "有什么不吃的吗？", "用户不吃内脏"),
        ("六岁半，女孩", "您孩子多大了？", "用户的孩子六岁半"),
        ("十五万", "预算多少？", "用户的预算是十五万"),
        ("县医院，骨科", "你在哪儿上班？", "用户在县医院上班"),
        ("狸花，路边捡的", "你家猫什么品种？", "用户养的是狸花"),
    ],
)
def test_a_short_answer_is_read_with_its_question(said: str, asked: str, meant: str) -> None:
    assert any(text.startswith(meant) for text in read(said, asked=asked))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("养了只鹩哥，叫阿黑", "用户养了只鹩哥叫阿黑"),
        ("我有个外甥女，五岁", "用户有个外甥女五岁"),
    ],
)
def test_a_name_or_an_age_stays_with_whose_it_is(said: str, meant: str) -> None:
    assert read(said) == [meant]


def test_what_the_cat_may_eat_is_not_the_speakers_diet() -> None:
    assert read("猫有肾病，只能吃处方粮") == ["用户的猫有肾病"]


def test_a_companion_keeps_the_name_that_follows_and_the_date_does_not_part_them() -> None:
    assert only("下个月15号我和女朋友小林去云南旅游").text == "用户和女朋友小林下个月15号（2026-06-15）去云南旅游"


@pytest.mark.parametrize("message", ["我们家老头子血压高", "我老汉在绵阳开茶馆", "我老花眼", "我老弟在深圳当兵"])
def test_what_begins_with_old_is_not_split_into_often_and_a_rest(message: str) -> None:
    assert not any("经常" in text for text in read(message))


def test_a_habit_that_happens_all_the_time_is_still_read() -> None:
    assert read("我老加班") == ["用户经常加班"]
