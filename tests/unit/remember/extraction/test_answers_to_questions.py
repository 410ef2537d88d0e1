"""An answer is joined to a question only where that asks one thing, and the answer has its form."""

from __future__ import annotations

import pytest

from ebbing.remember.facts.evidence import literal_span
from tests.unit.remember.extraction.facts import heard, only


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many guests, and any allergies?", "12 kids"),
        ("How many guests? Any allergies?", "12 kids"),
        ("Are you cooking or going out? And any allergies I should know?", "cooking"),
        ("Any allergies?", "12 kids"),
        ("Any food you avoid?", "two of them"),
        ("Where do you live and what do you do?", "Boston"),
        ("请问几位用餐？有忌口或过敏吗？", "四个人，都能吃"),
        ("几位用餐，有什么忌口吗？", "四个人，都能吃"),
        ("有什么忌口吗？", "四个人"),
        ("干呕可能是毛球。它叫什么名字？", "馒头"),
        ("猫咪多半没事。叫什么名字呀，多大了？", "馒头"),
    ],
)
def test_an_answer_to_two_things_or_of_another_form_makes_no_fact(question: str, answer: str) -> None:
    assert [fact.text for fact in heard(answer, asked=question)] == []


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("Any allergies?", "peanuts", "User is allergic to peanuts"),
        ("Nice to meet you! What is your name?", "Sophie", "User's name is Sophie"),
        ("How many kids do you have?", "Three", "User has three kids"),
        ("你对什么过敏吗？", "青霉素", "用户对青霉素过敏"),
        ("你有孩子吗？", "有，两个女儿", "用户有两个女儿"),
    ],
)
def test_an_answer_to_one_question_keeps_the_real_words_as_evidence(question: str, answer: str, text: str) -> None:
    fact = only(answer, asked=question)
    assert fact.text.lower() == text.lower()
    assert literal_span(fact.source_text, answer) == answer
