"""Keyword terms of any text: stable, complete, and the same on the way in and on the way out."""

from __future__ import annotations

import time
import tomllib
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.index.index_entry import entry_for, pack, term_hash
from ebbing.language.text.analyzer import (
    MAX_ANALYSED,
    AskedTime,
    TextFlag,
    analyse,
    asked_time,
    asks_for_value,
    date_terms,
    flags_of,
    normalise,
    query_terms,
    wants_advice,
)
from ebbing.language.text.detect_language import detect

any_text = st.text(st.characters(codec=None), max_size=80)
"""Lone surrogates and unassigned characters too."""
han = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=12)
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)
mixed = st.lists(st.one_of(han, words, st.integers(0, 9999).map(str), st.sampled_from("，。!? \n")), max_size=12).map(
    " ".join
)


@given(any_text)
def test_any_string_is_analysed_and_asked(text: str) -> None:
    found = analyse(text, speaker=text, said_at=datetime(2024, 5, 8, tzinfo=UTC))
    assert found.length == sum(found.text.values())
    assert found.length >= len(found.text)
    assert len(pack(found)) <= len(found.text) + len(found.speaker) + len(found.date)
    assert all(isinstance(answer, bool) for answer in (wants_advice(text), asks_for_value(text)))
    assert entry_for(found).length == found.length


@given(any_text)
def test_a_question_has_the_terms_under_which_its_text_is_stored(text: str) -> None:
    asked = query_terms(text)
    assert set(asked) == set(analyse(text).text)
    assert len(asked) == len(set(asked))


@given(any_text)
def test_the_same_text_always_has_the_same_terms(text: str) -> None:
    assert analyse(text) == analyse(text)
    assert [*map(term_hash, query_terms(text))] == [*map(term_hash, query_terms(text))]


@given(mixed)
def test_case_width_and_composition_do_not_change_the_terms(text: str) -> None:
    wide = text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    for other in (text.upper(), unicodedata.normalize("NFD", text), wide):
        assert query_terms(other) == query_terms(text)


@given(any_text)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(mixed, mixed)
def test_a_text_holds_the_terms_of_its_parts(one: str, two: str) -> None:
    whole = set(query_terms(f"{one}\n{two}"))
    assert set(query_terms(one)) | set(query_terms(two)) <= whole


@given(han)
def test_every_pair_of_chinese_characters_finds_its_text(text: str) -> None:
    terms = set(query_terms(text))
    for at in range(len(text) - 1):
        assert normalise(text[at : at + 2]) in terms or len(normalise(text[at : at + 2])) != 2


@pytest.mark.parametrize("text", ["年糕", "小雨养了一只猫叫年糕", "咖啡馆", "我住在杭州"])
def test_every_stretch_of_a_chinese_text_shares_a_term_with_it(text: str) -> None:
    terms = set(query_terms(text))
    for length in (2, 3):
        for at in range(len(text) - length + 1):
            assert terms & set(query_terms(text[at : at + length]))


@pytest.mark.parametrize(
    ("stored", "question"),
    [
        ("I was swimming", "swim"),
        ("her cats", "cat's"),
        ("Caroline’s book", "caroline's books"),
        ("naïve café", "NAÏVE CAFÉ"),
        ("我５月８日生日", "5月8号"),
        ("二〇二四 GPT-4o", "gpt 4o"),
        ("東京タワー", "タワー"),
        ("서울에서 만나요", "서울"),
        ("Привет мир", "МИР"),
    ],
)
def test_what_is_asked_in_another_form_shares_a_term(stored: str, question: str) -> None:
    assert set(query_terms(question)) & set(analyse(stored).text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_date_is_found_in_chinese_and_in_english(moment: datetime) -> None:
    terms = date_terms(moment)
    month = moment.strftime("%B")
    assert set(query_terms(f"{month} {moment.day} {moment.year}")) <= set(terms)
    assert {f"{moment.month}月", f"{moment.day}日"} <= set(query_terms(f"{moment.month}月{moment.day}日")) & set(terms)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Do you swim?", TextFlag.QUESTION),
        ("你喜欢什么", TextFlag.QUESTION),
        ("Always answer in German.", TextFlag.INSTRUCTION),
        ("以后请叫我小雨", TextFlag.INSTRUCTION),
        ("I love noodles", TextFlag.PREFERENCE),
        ("I don't like fish", TextFlag.PREFERENCE),
        ("I can’t stand crowds", TextFlag.PREFERENCE),
        ("我讨厌香菜", TextFlag.PREFERENCE),
        ("It rained.", TextFlag(0)),
    ],
)
def test_what_kind_of_utterance_a_text_is(text: str, flag: TextFlag) -> None:
    languages = TextFlag.CHINESE | TextFlag.ENGLISH
    assert flags_of(normalise(text)) & ~(languages | TextFlag.ASKING) == flag


@pytest.mark.parametrize(
    ("text", "flag"),
    [("我喜欢 Python", TextFlag.CHINESE), ("I love 面", TextFlag.ENGLISH), ("15:30", TextFlag(0)), ("", TextFlag(0))],
)
def test_the_script_of_a_text_tells_its_language(text: str, flag: TextFlag) -> None:
    assert flags_of(normalise(text)) & (TextFlag.CHINESE | TextFlag.ENGLISH) == flag


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is my dentist called?", True),
        ("By the way, who is my dentist?", True),
        ("对了，我对什么过敏？", True),
        ("我的医生叫什么来着", True),
        ("I fly to Berlin on Friday, what should I pack?", False),
        ("我周五要去上海出差，住哪里好？", False),
        ("My dentist is Dr. Wu.", False),
        ("没什么，都行", False),
        ("???", False),
    ],
)
def test_a_text_only_asks_if_none_of_its_clauses_tells_anything(text: str, asks: bool) -> None:
    assert bool(flags_of(normalise(text)) & TextFlag.ASKING) is asks


@pytest.mark.parametrize(
    "text",
    ["How much is my rent?", "when is it", "What is my rent?", "what's the date", "我的房租是多少？", "生日是哪天"],
)
def test_a_question_for_a_value_is_known_as_one(text: str) -> None:
    assert asks_for_value(text)


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("how much ramipril am i on now", AskedTime.PRESENT),
        ("which day was mum's op in the end?", AskedTime.PRESENT),
        ("do we still have the van", AskedTime.PRESENT),
        ("我现在优甲乐吃多少", AskedTime.PRESENT),
        ("考试最后定在哪天", AskedTime.PRESENT),
        ("what was my first dose, and what is it now", AskedTime.PAST),
        ("when did Gina open her shop?", AskedTime.PAST),
        ("How many times has Joanna found new trails?", AskedTime.PAST),
        ("我以前吃多少", AskedTime.PAST),
        ("我去过日本几次", AskedTime.PAST),
        ("what was the new address", AskedTime.PRESENT),
        ("what day was choir again", AskedTime.PRESENT),
        ("which care home has mum got a place in", AskedTime.OPEN),
        ("what have i got on thursday", AskedTime.OPEN),
        ("药一天吃几次", AskedTime.OPEN),
        ("机票是哪天去上海的", AskedTime.OPEN),
        ("最近的地铁站是哪个", AskedTime.OPEN),
        ("how much is the rent", AskedTime.OPEN),
        ("房租多少钱", AskedTime.OPEN),
    ],
)
def test_a_question_says_for_which_time_it_wants_its_answer(question: str, time: AskedTime) -> None:
    assert asked_time(question) is time


@pytest.mark.parametrize("text", ["Tell me about Berlin", "whatever", "讲讲柏林"])
def test_another_question_is_none_for_a_value(text: str) -> None:
    assert not asks_for_value(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        "我" * 10**6,
        "1.2" * 10**5,
        "'" * 10**6,
        "a'" * 10**5,
        "!\n" * 10**5,
        "5月" * 10**5,
        "\ud800" * 10**5,
    ],
    ids=lambda text: repr(text[:3]),
)
def test_a_huge_hostile_text_is_analysed_in_a_moment(text: str) -> None:
    began = time.thread_time()
    found = analyse(text)
    assert time.thread_time() - began < 5
    assert found.length <= 2 * MAX_ANALYSED + MAX_ANALYSED


@given(any_text)
def test_every_text_has_a_language_or_none(text: str) -> None:
    assert detect(text) in {"zh", "en", "ja", "ko", "und"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我用 Python", "zh"),
        ("我爱 you and me, always", "en"),
        ("東京タワーに行きたい", "ja"),
        ("서울에서 만나요", "ko"),
        ("12:30 !!", "und"),
        ("", "und"),
        ("👍", "und"),
    ],
)
def test_a_language_is_told_by_its_script(text: str, language: str) -> None:
    assert detect(text) == language


def _patterns(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _patterns(value)
    elif isinstance(data, list):
        for value in data:
            yield from _patterns(value)


def test_no_pattern_of_a_language_pack_lost_its_backslash() -> None:
    for entry in (files("ebbing.language") / "packs").iterdir():
        if entry.name.endswith(".toml"):
            for pattern in _patterns(tomllib.loads(entry.read_text("utf-8"))):
                assert not {"\b", "\f", "\v", "\a", "\x1b"} & set(pattern), (entry.name, pattern)
