"""Standing wishes that are taken back: the wish ends, in whatever words; nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.language.signals.withdrawals import withdrawals_in
from ebbing.language.text.quotation import undated
from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings

TAKEN_BACK = [
    ("keep your answers short please", "stop with the short answers"),
    ("keep your answers short please", "don't keep your answers so short"),
    ("please answer briefly from now on", "you can give longer answers again"),
    ("please answer briefly from now on", "actually longer answers are fine now"),
    ("no bullet points ever", "ok bullet points are fine after all"),
    ("never use bullet points", "you can use bullet points again"),
    ("always use metric units", "go back to imperial please, no more metric"),
    ("from now on reply in French", "stop replying in French"),
    ("always add a joke at the end", "drop the jokes please"),
    ("please don't use emojis", "emojis are ok again"),
    ("以后回答短一点", "别回答那么短了"),
    ("以后回答简短些", "现在可以详细点了"),
    ("以后都用英文回答我", "别用英文了，用中文"),
    ("以后都用英文回答我", "不用再用英文回答了"),
    ("回答里不要用表情", "表情可以用了"),
    ("以后不要列清单", "还是列清单吧"),
    ("以后先问我再订", "以后不用先问我了"),
    ("never write more than three sentences", "forget the three sentences rule, talk normal"),
    ("always use metric units", "please drop the metric rule, it confuses my wife"),
    ("please don't use emojis", "the emoji rule can go"),
    ("always use metric units", "ok that metric rule no longer applies"),
    ("以后回答最多三句", "算了，那个三句的规矩不要了。长短随你，先说结论"),
    ("以后回答不要超过一百字", "一百字的限制取消"),
]
KEPT = [
    ("never write more than three sentences", "the school dropped the uniform rule"),
    ("always use metric units", "forget the gym rule"),
    ("always use metric units", "the metric rule is not over"),
    ("always use metric units", "the metric rule can go up to the top of the list"),
    ("please don't use emojis", "the gym rule can go"),
    ("always use metric units", "don't forget the metric rule"),
    ("以后回答最多三句", "公司那个打卡的规定取消了"),
    ("以后回答最多三句", "三句的规矩还要"),
    ("never suggest recipes with nuts", "nuts are not okay for me"),
    ("never suggest recipes with nuts", "nuts are never ok"),
    ("never suggest recipes with nuts", "stop, nuts are not allowed"),
    ("please don't use emojis", "emojis are never ok"),
    ("回答里不要用表情", "表情不可以用了"),
    ("回答里不要用表情", "不可以用表情了"),
    ("always include sources", "please don't forget to include sources"),
    ("always include sources", "never skip the sources"),
    ("always include sources", "did you forget the sources?"),
    ("always add a joke at the end", "don't skip the joke"),
    ("always add a joke at the end", "why no more jokes?"),
    ("always add a joke at the end", "> drop the jokes please"),
    ("always add a joke at the end", "she wrote: drop the jokes please"),
    ("always add a joke at the end", "Tom: drop the jokes please"),
    ("always add a joke at the end", "```drop the jokes```"),
    ("from now on reply in French", "why did you stop replying in French?"),
    ("from now on reply in French", "don't stop replying in French"),
    ("from now on reply in French", "you don't answer in French"),
    ("以后都用英文回答我", "怎么又不用英文回答了"),
    ("never mention my ex", "my ex is fine now"),
    ("never mention my ex", "my ex is ok with the custody plan"),
    ("don't mention work after 8pm", "work is fine"),
    ("以后回答详细点", "别想太多了"),
    ("keep your answers short please", "my sister's hair is awful, she cut it short"),
    ("keep your answers short please", "i had to stop for a long time"),
    ("keep your answers short please", "don't keep your answers so long"),
    ("please don't use emojis", "stop using emojis"),
    ("never use bullet points", "no more bullet points please"),
    ("from now on reply in French", "stop worrying about the French exam"),
    ("always use metric units", "the kids are fine now"),
    ("以后回答短一点", "别回答那么长了"),
    ("回答里不要用表情", "别用表情了"),
    ("以后都用英文回答我", "别担心了"),
    ("以后先问我再订", "还是吃面吧"),
]


def current_after(*messages: str, name: str = "Kim") -> list[str]:
    with Memory(components=build(load_settings({"store": "ephemeral"}), embedder="none")) as memory:
        for message in messages:
            told = {"role": "user", "content": message, "name": name}
            memory.add([told, {"role": "assistant", "content": "ok"}], user_id="u")
        items = memory.get_all(user_id="u")["results"]
        return [undated(item["memory"]) for item in items if "valid_to" not in item]


@pytest.mark.parametrize(("wish", "message"), TAKEN_BACK)
def test_a_wish_that_is_taken_back_ends(wish: str, message: str) -> None:
    [before] = current_after(wish)
    after = current_after(wish, message)
    assert before not in after
    assert len(after) == 1


@pytest.mark.parametrize(("wish", "message"), KEPT)
def test_who_says_the_same_again_or_another_thing_takes_nothing_back(wish: str, message: str) -> None:
    [before] = current_after(wish)
    assert before in current_after(wish, message)


def test_of_two_wishes_that_may_be_meant_none_ends() -> None:
    wishes = ("never use emojis in mails", "never use emojis in poems")
    assert set(current_after(*wishes)) <= set(current_after(*wishes, "emojis are fine again"))


def test_among_people_nobody_takes_back_what_another_wishes() -> None:
    with Memory(components=build(load_settings({"store": "ephemeral"}), embedder="none")) as memory:
        memory.add([{"role": "user", "content": "always add a joke at the end", "name": "Kim"}], user_id="u")
        talk = [("Kim", "he told three today"), ("Tom", "drop the jokes please"), ("Kim", "lol")]
        memory.add([{"role": "user", "content": text, "name": name} for name, text in talk], user_id="u")
        items = memory.get_all(user_id="u")["results"]
        assert "Kim's rule: always add a joke at the end" in [
            item["memory"] for item in items if "valid_to" not in item
        ]


def test_nobody_takes_back_the_wish_of_another() -> None:
    with Memory(components=build(load_settings({"store": "ephemeral"}), embedder="none")) as memory:
        for name, text in (("Kim", "always add a joke at the end"), ("Tom", "drop the jokes please")):
            memory.add([{"role": "user", "content": text, "name": name}], user_id="u")
        items = memory.get_all(user_id="u")["results"]
        assert "Kim's rule: always add a joke at the end" in [
            item["memory"] for item in items if "valid_to" not in item
        ]


def test_a_wish_comes_back_with_undo() -> None:
    with Memory(components=build(load_settings({"store": "ephemeral"}), embedder="none")) as memory:
        for text in ("never use bullet points", "bullet points are fine again"):
            memory.add([{"role": "user", "content": text, "name": "Kim"}], user_id="u")
        memory.undo(user_id="u")
        current = [item["memory"] for item in memory.get_all(user_id="u")["results"] if "valid_to" not in item]
        assert current == ["Kim's rule: never use bullet points"]


FACTS = ("I am allergic to peanuts", "I never eat meat", "I live in Leeds", "my sister Ann is a vet", "我对花生过敏")


@given(st.sampled_from(FACTS), st.sampled_from([message for _, message in TAKEN_BACK]))
def test_what_takes_a_wish_back_ends_nothing_else(fact: str, message: str) -> None:
    assert set(current_after(fact)) <= set(current_after(fact, message))


@given(st.text(st.sampled_from("stop no more you can again fine 别用了可以吧还是,.!?"), max_size=160))
def test_what_is_taken_back_stands_in_the_message(text: str) -> None:
    for withdrawal in withdrawals_in(text):
        assert withdrawal.clause in text
        assert withdrawal.thing


def test_a_rule_that_is_named_as_such_ends_with_what_was_said_of_it_again() -> None:
    said = (
        "以后跟我说话最多三句",
        "以后讲药的时候可以说长点，别的还是三句",
        "算了，那个三句的规矩不要了。长短随你，先说结论",
    )
    current = current_after(*said, name="郑国平")
    assert [memory for memory in current if "三句" in memory] == [
        "郑国平说：“那个三句的规矩不要了。长短随你，先说结论”"
    ]


@pytest.mark.parametrize(
    ("wish", "kept"),
    [
        ("别您您的，听着像客服", "别您您的"),
        ("别您来您去的，听着生分", "别您来您去的"),
        ("别一口一个您，听着难受", "别一口一个您"),
        ("以后你都用中文回答", "助手"),
    ],
)
def test_a_pronoun_that_is_named_as_a_word_stays_that_word(wish: str, kept: str) -> None:
    [memory] = current_after(wish, name="郑国平")
    assert kept in memory
    assert ("助手" in memory) is (kept == "助手")


def test_news_beside_the_end_of_a_rule_does_not_stand_in_the_place_of_the_wish() -> None:
    current = current_after("always use metric units", "forget the metric rule. My son is allergic to nuts.")
    assert current == [
        "Kim said: “forget the metric rule. My son is allergic to nuts.”",
        "Kim's son is allergic to nuts",
    ]
