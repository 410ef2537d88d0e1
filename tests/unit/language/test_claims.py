"""What a statement claims, and how two claims stand to each other."""

from __future__ import annotations

import pytest

from ebbing.domain.conflict.compare import Relation, compare
from ebbing.domain.forgetting.importance import Substance, measured_importance, seed_importance
from ebbing.domain.memory.record import MemoryType
from ebbing.language.claims.claims import StatementHints, attribute_of, claim_of, polarity_of
from ebbing.language.claims.normalize_values import object_key, value_of


def relation(new: str, old: str, **told: object) -> Relation:
    return compare(claim_of(new, StatementHints()), claim_of(old, StatementHints(**told))).relation  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Beijing", "北京"),
        ("北京市", "北京"),
        ("NYC", "New York City"),
        ("the USA", "United States"),
        ("May 3rd", "3 May"),
        ("5月3日", "5月3号"),
        ("a teacher", "老师"),
        ("thirty", "30"),
        ("Tencent", "腾讯公司"),
    ],
)
def test_one_value_in_two_spellings_is_one_value(one: str, other: str) -> None:
    assert value_of(one) == value_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Boston", "Austin"), ("北京", "南京"), ("May 3", "May 4"), ("nurse", "chef")]
)
def test_different_values_stay_apart(one: str, other: str) -> None:
    assert value_of(one) != value_of(other)


@pytest.mark.parametrize(
    ("text", "language", "key"),
    [
        ("to play cricket with friends", "en", "cricket"),
        ("playing cricket", "en", "cricket"),
        ("reading before bed", "en", "read"),
        ("喝咖啡", "zh", "咖啡"),
        ("和朋友打篮球", "zh", "篮球"),
        ("吃辣", "zh", "辣"),
    ],
)
def test_a_taste_is_found_by_its_thing(text: str, language: str, key: str) -> None:
    assert object_key(text, language) == key


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("User changed their name to Elias", "name", "Elias"),
        ("User switched their major to philosophy", "major", "philosophy"),
        ("User's new boss is Tom", "boss.name", "Tom"),
        ("User found a job at Costco", "employer", "Costco"),
        ("User prefers tea over coffee", "preferred of coffee and tea", "tea"),
        ("用户改名叫李浩了", "name", "李浩"),
        ("用户的老公换到小米了", "husband.employer", "小米"),
        ("用户最喜欢的季节是秋天", "favourite.season", "秋天"),
    ],
)
def test_attributes_are_read_from_the_wording(text: str, attribute: str, value: str) -> None:
    assert attribute_of(text, StatementHints()) == (attribute, value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User has a gym membership", "User cancelled their gym membership"),
        ("User goes to the gym every day", "User stopped going to the gym"),
        ("User has a dog named Rex", "User's dog Rex died"),
        ("User drives a Honda", "User sold their car"),
        ("User does not own a bike", "User bought a bike"),
        ("User does not have any pets", "User adopted a cat"),
        ("User runs 5 km every morning", "User runs 10 km every morning now"),
        ("User gave up smoking", "User smokes again"),
        ("User gets up at 6", "User is up at 5 these days"),
        ("User takes the bus to work", "User drives in now"),
        ("User banks with Barclays", "User switched their bank to Monzo"),
        ("User works part time", "User has gone full time"),
        ("User does yoga on mondays", "The yoga has moved to thursdays"),
        ("User has a lurcher called Dot", "Dot has been adopted"),
        ("User goes to a book club", "User sold the car, gave up the book club"),
        ("用户养了一只狗叫旺财", "旺财去世了"),
        ("用户每天跑步", "用户不跑步了"),
        ("用户有一辆摩托车", "用户的摩托车卖了"),
    ],
)
def test_what_is_over_ends_what_was(old: str, new: str) -> None:
    told = {"attribute": "vehicle", "value": "Honda"} if "Honda" in old else {}
    assert relation(new, old, **told) is Relation.CONTRADICTS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User's sister has a dog", "User's dog died"),
        ("User works at MIT", "User graduated from MIT"),
        ("User lived in Paris", "User lives in Paris"),
        ("User has a cat", "User has a dog"),
        ("User has two brothers", "User has three sisters"),
        ("User loves yoga", "The yoga has moved to thursdays"),
        ("User is from Kerala", "User has not been back to Kerala since the wedding"),
        ("User has a lurcher called Dot", "The cat has been adopted"),
        ("User never drinks coffee", "User drinks tea"),
        ("用户有一只猫", "用户有一只狗"),
        ("用户的妹妹住在广州", "用户搬到深圳了"),
    ],
)
def test_other_matters_are_left_alone(old: str, new: str) -> None:
    assert relation(new, old) is Relation.APART


def test_two_events_with_other_numbers_are_two_events() -> None:
    event = StatementHints(type=MemoryType.EPISODIC)
    two, three = claim_of("User bought two books", event), claim_of("User bought three books", event)
    assert compare(three, two).relation is Relation.APART


def test_more_words_make_a_richer_statement_and_fewer_the_same() -> None:
    short, long = "User has a dog", "User has a brown dog"
    assert relation(long, short) is Relation.RICHER
    assert relation(short, long) is Relation.SAME


def test_denying_a_dislike_is_no_dislike() -> None:
    assert polarity_of("User does not hate spinach", -1) == 1
    assert polarity_of("User hates spinach", -1) == -1
    assert polarity_of("User likes spinach", 1) == 1


def test_the_seed_formula_adds_its_four_shares() -> None:
    full = seed_importance(MemoryType.PREFERENCE, scarcity=1, age_days=0, certainty=1)
    assert full == pytest.approx(0.25 + 0.35 * 0.9 + 0.2 + 0.2)
    old = seed_importance(MemoryType.EPISODIC, scarcity=0, age_days=60, certainty=0.5)
    assert old == pytest.approx(0.35 * 0.5 + 0.1)


def test_names_and_numbers_make_a_text_matter_and_filler_does_not() -> None:
    plain = Substance(specifics=0, novelty=0.8, content_share=0.5, statement=0.8, size=40)
    rich = Substance(specifics=3, novelty=0.8, content_share=0.5, statement=0.8, size=40)
    chatter = Substance(specifics=0, novelty=0.8, content_share=0.2, statement=0.0, size=40)
    assert 0 < measured_importance(chatter) < measured_importance(plain) < measured_importance(rich) <= 1


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("用户例会挪到周五上午了", "用户的组每周三下午开例会"),
        ("用户电钢挂闲鱼上卖掉了", "用户有台雅马哈电钢"),
        ("预算加到26万了", "用户装修预算20万"),
        ("留学这事彻底黄了", "用户九月去英国留学"),
        ("移民申请撤了", "用户在申请加拿大移民"),
        ("恐怖片也可以推", "用户要求:推荐电影不要恐怖片"),
        ("乌龟没熬过冬天", "用户的乌龟养了八年了"),
        ("目标下调了", "用户的目标是年底存够二十万"),
    ],
)
def test_a_turn_ends_what_was_known_of_its_topic(new: str, old: str) -> None:
    assert relation(new, old) is Relation.CONTRADICTS


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("用户日语课改到周三了", "用户在学日语"),
        ("咖啡不加糖了", "用户喜欢喝咖啡"),
        ("用户公司年会取消了", "用户的公司在滨江"),
        ("这周二瑜伽课取消了", "用户每周二晚上有瑜伽课"),
    ],
)
def test_a_turn_of_one_thing_is_none_of_another(new: str, old: str) -> None:
    assert relation(new, old) is Relation.APART
