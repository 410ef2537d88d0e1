"""Which recalled memories an answer was made with."""

from __future__ import annotations

import pytest

from ebbing.recall.usage import used_memories

ENGLISH = {
    "sister": "Melanie's sister Lin moved to Suzhou in 2021",
    "cat": "Melanie adopted a grey cat called Miso from the shelter",
    "job": "Melanie works night shifts as a nurse at the children's hospital",
    "trip": "Melanie paid $340 for the train to Lhasa",
}
CHINESE = {
    "sister": "用户的妹妹小林2021年搬到了苏州",
    "allergy": "用户对花生过敏，吃了会起疹子",
    "job": "用户在儿童医院当夜班护士",
    "trip": "用户去拉萨的火车票花了340元",
}


@pytest.mark.parametrize(
    ("answer", "question", "used"),
    [
        ("Your sister Lin has been in Suzhou since 2021.", "Where is my sister?", ["sister"]),
        ("Miso!", "What is my cat called?", ["cat"]),
        ("The ticket was $340.", "How much was the train?", ["trip"]),
        ("You could cook for Miso after your night shifts at the hospital.", "Any plans?", ["cat", "job"]),
        ("I am sorry, I do not know that.", "Where does Melanie work?", []),
        ("Melanie, what a lovely name.", "", []),
        ("", "Where is my sister?", []),
    ],
)
def test_an_english_answer_is_traced_to_its_memories(answer: str, question: str, used: list[str]) -> None:
    assert used_memories(answer, ENGLISH, question=question) == used


@pytest.mark.parametrize(
    ("answer", "question", "used"),
    [
        ("你妹妹小林2021年就搬去苏州了。", "我妹妹住在哪儿？", ["sister"]),
        ("这道菜有花生，你过敏，换一道吧。", "这道宫保鸡丁我能吃吗？", ["allergy"]),
        ("一共340元。", "去拉萨的火车票多少钱？", ["trip"]),
        ("你是儿童医院的夜班护士，所以白天多睡一会儿。", "给我一点建议", ["job"]),
        ("抱歉，我不知道。", "我在哪里工作？", []),
    ],
)
def test_a_chinese_answer_is_traced_to_its_memories(answer: str, question: str, used: list[str]) -> None:
    assert used_memories(answer, CHINESE, question=question) == used


def test_repeating_the_question_uses_no_memory() -> None:
    question = "Did Melanie move to Suzhou in 2021?"
    assert used_memories(question, {"sister": "Melanie moved to Suzhou in 2021"}, question=question) == []


def test_another_number_is_another_fact() -> None:
    memories = {"old": "The rent is 900 a month", "new": "The rent is 1200 a month"}
    assert used_memories("It is 1200 now.", memories, question="What is the rent a month?") == ["new"]


def test_what_all_memories_say_sets_none_apart() -> None:
    memories = {str(number): f"Notes about the garden, part {number}" for number in range(3, 30)}
    assert used_memories("The garden!", {**memories, "x": "The roses need water"}) == []


def test_odd_texts_are_no_reason_to_fail() -> None:
    assert used_memories("\x00\ud800 ok", {"a": "", "b": "\ud800", "c": "？！"}) == []
