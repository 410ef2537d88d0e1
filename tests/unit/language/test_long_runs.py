"""Reading takes time in proportion to the text, also where somebody sends one character ten thousand times."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from time import process_time
from typing import Any, Final

import pytest

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.claims.relations import aliases
from ebbing.language.dates.resolve import absolute, resolve
from ebbing.language.signals.forget_requests import asked_to_forget
from ebbing.language.signals.preferences import read_tastes
from ebbing.language.signals.vague_questions import is_weak
from ebbing.language.text.analyzer import analyse
from ebbing.language.text.caches import clear_text_caches
from ebbing.language.text.sentences import split_text
from ebbing.language.text.token_count import estimate_tokens
from ebbing.language.wording.paraphrase import gist_of
from ebbing.language.wording.topics import topics
from ebbing.privacy.guarding.off_record import off_record_request
from ebbing.privacy.guarding.quote import quote
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped
from ebbing.privacy.redaction.redact import redact
from ebbing.remember.extraction.extractor import filter_statements
from ebbing.remember.intake.screening import ScreenedMessage

NOW: Final = datetime(2024, 5, 15, tzinfo=UTC)


def read(text: str) -> None:
    filter_statements([ScreenedMessage(Message(text), TrustTier.USER)], now=NOW, agent_facts=False, known_places=())


def read_reply(text: str) -> None:
    answered = ScreenedMessage(Message(text[:200]), TrustTier.USER)
    said = ScreenedMessage(Message(text, Role.ASSISTANT), TrustTier.ASSISTANT)
    filter_statements([said, answered], now=NOW, agent_facts=True, known_places=())


READERS: Final[dict[str, Callable[[str], Any]]] = {
    "read": read,
    "read_reply": read_reply,
    "redact": redact,
    "order": instruction_shaped,
    "order_of_user": lambda text: instruction_shaped(text, spoken_by_user=True),
    "strip_recalled": strip_recalled,
    "quote": quote,
    "off_record": off_record_request,
    "analyse": analyse,
    "resolve": lambda text: resolve(text, now=NOW),
    "absolute": lambda text: absolute(text, now=NOW),
    "asked_to_forget": lambda text: asked_to_forget(text, now=NOW),
    "is_weak": is_weak,
    "gist": gist_of,
    "tokens": estimate_tokens,
    "topics": lambda text: topics([text]),
    "tastes": lambda text: read_tastes([text]),
    "aliases": aliases,
    "split": split_text,
}
UNITS: Final = ("1", " ", '"', "“", "我", ",", "，", "a", "-", "（", "一", "三十")
MORE_UNITS: Final = (
    *(
        "\n",
        "\t",
        "12 ",
        "1-",
        "1.",
        "1,",
        "a-",
        "a.",
        "a@",
        "A ",
        "A b ",
        "(",
        "[",
        "「",
        "'",
        "‘",
        "：",
        "。",
        "、",
        "#",
    ),
    *(
        "的",
        "不",
        "没",
        "我的",
        "我我 ",
        "我妈妈的",
        "三",
        "下周",
        "2024年",
        "每次",
        "附上",
        "别",
        "记",
        "不要记",
        "别存",
    ),
    *("and ", "my ", "not going to ", "my mother's brother's ", "because I said that ", "last week of ", "I like "),
    *("don't ", "do not ", "remember ", "don't remember ", "off the ", "record ", "send ", "always ", "never ", "you "),
    *("http://", "www.", "a@b.", "![](", "password for a ", "token: ", "sk-", "-----BEGIN ", "\u200b", "👍", "İ"),
)


def seconds(reader: Callable[[str], Any], text: str) -> float:
    """CPU time of a reading without what is remembered of an earlier one; the better of two."""
    times = []
    for _ in range(2):
        clear_text_caches()
        begun = process_time()
        with contextlib.suppress(EbbingError):  # a refusal is an answer in time
            reader(text)
        times.append(process_time() - begun)
    return min(times)


def grows_too_fast(reader: Callable[[str], Any], unit: str, *, sizes: tuple[int, ...]) -> bool:
    """Whether four times the text ever takes more than eight times as long, and a notable time at all."""
    spent = [seconds(reader, (unit * size)[:size]) for size in sizes]
    return any(longer > 8 * shorter + 0.05 for shorter, longer in pairwise(spent))


@pytest.mark.parametrize("name", ["gist", "off_record", "order", "order_of_user", "quote", "strip_recalled", "is_weak"])
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_run_of_one_character_is_read_in_linear_time(name: str, unit: str) -> None:
    READERS[name]("I live in Leeds. 我住在北京。")
    assert not grows_too_fast(READERS[name], unit, sizes=(1_000, 4_000))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_takes_any_long_run_in_linear_time(name: str) -> None:
    READERS[name]("I live in Leeds. 我住在北京。")
    slow = [unit for unit in (*UNITS, *MORE_UNITS) if grows_too_fast(READERS[name], unit, sizes=(1_000, 4_000, 16_000))]
    assert slow == []
