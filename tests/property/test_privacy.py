"""What holds for every text: nothing found is left, nothing quoted escapes, and no text takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.privacy.guarding.quote import CLOSE, OPEN, block, quote
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.privacy.redaction.checksums import luhn
from ebbing.privacy.redaction.redact import DEFAULT, Category, find, redact

HAN = "我的手机是打电话给他谢谢号码吗。，：！"
digits = st.text("0123456789", min_size=1)


def of(length: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=length, max_size=length)


def with_check_digit(body: str) -> str:
    return next(body + digit for digit in "0123456789" if luhn(body + digit))


VALUES: dict[Category, st.SearchStrategy[str]] = {
    Category.PHONE: st.builds(
        "{}{}{}".format, st.sampled_from(["130", "138", "159", "186", "199"]), st.sampled_from(["", " ", "-"]), of(8)
    ).filter(lambda number: not number.endswith("00000")),
    Category.EMAIL: st.emails(domains=st.from_regex(r"[a-z]{2,12}\.(com|cn|org|example)", fullmatch=True)).filter(
        lambda address: address.split("@")[0].replace(".", "").replace("_", "").isalnum()
    ),
    Category.BANK_CARD: of(13).map(lambda body: with_check_digit("62" + body)),
    Category.API_KEY: st.from_regex(r"sk-[a-z]{4}[0-9]{4}[A-Z]{4}[a-z0-9]{12}", fullmatch=True).filter(
        lambda key: len(set(key)) >= 8
    ),
    Category.PASSWORD: st.from_regex(r"[a-z]{3,8}[0-9]{2,4}", fullmatch=True),
}
around = st.text(HAN, max_size=12)
texts = st.text(st.one_of(st.characters(), st.sampled_from("0123456789 -.+()@:/=<>[]\"'\n" + HAN)), max_size=300)
fragments = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "13812345678",
                "a@b.co",
                "+1 212 555 0123",
                "(212) 555-0123",
                "密码是",
                "password is ",
                "abc123",
                "4111 1111 1111 1111",
                "11010519491231002X",
                "DE89370400440532013000",
                "postgres://a:b@c",
                "sk-abcdEFGH12345678",
                "token=",
                "电话",
                "\u200b",
                " ",
                "-----BEGIN PRIVATE KEY-----",
                "://",
                "[REDACTED_PHONE]",
                OPEN,
                CLOSE,
                "Relevant long-term memory:",
                "\n- ",
                "\n",
                "“",
                "”",
                "你说过",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=12,
).map("".join)


@given(data=st.data(), category=st.sampled_from(list(VALUES)), before=around, after=around)
def test_a_value_between_chinese_words_is_found_exactly(
    data: st.DataObject, category: Category, before: str, after: str
) -> None:
    value = data.draw(VALUES[category])
    before += "密码是" if category is Category.PASSWORD else "："
    text = f"{before}{value}。{after}"
    assert [(one.category, text[one.begin : one.end]) for one in find(text)] == [(category, value)]


@given(st.one_of(texts, fragments))
def test_findings_are_parts_of_the_text_in_order_without_overlap(text: str) -> None:
    last = 0
    for one in redact(text).findings:
        assert last <= one.begin < one.end <= len(text)
        last = one.end


@given(st.one_of(texts, fragments))
def test_what_stands_between_the_findings_is_untouched(text: str) -> None:
    redacted = redact(text)
    at, rest = 0, redacted.text
    for one in redacted.findings:
        kept = text[at : one.begin] + f"[REDACTED_{one.category.upper()}]"
        assert rest.startswith(kept)
        rest, at = rest[len(kept) :], one.end
    assert rest == text[at:]


@given(st.one_of(texts, fragments))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


@given(texts)
def test_an_invisible_character_hides_nothing(text: str) -> None:
    phone = "138\u20601234\u200d5678"
    assert phone not in redact(f"{text}。手机：{phone}。").text


@given(st.one_of(texts, fragments), st.integers(2, 400))
def test_a_quoted_memory_is_one_line_that_opens_and_closes_nothing(text: str, max_chars: int) -> None:
    line = quote(text, max_chars)
    assert len(line) <= max_chars
    assert len(line.splitlines()) <= 1
    assert not set("<>") & set(line)
    line.encode("utf-8")


@given(st.lists(st.one_of(texts, fragments), max_size=8), st.sampled_from(["en", "zh"]), st.integers(0, 2000))
def test_a_block_that_comes_back_is_taken_out_whole(memories: list[str], language: str, max_chars: int) -> None:
    text = block(memories, language=language, max_chars=max_chars)
    assert strip_recalled(f"{text}\n\nI like tea") == "I like tea" or not text
    assert text.count(CLOSE) <= 1


@given(st.one_of(texts, fragments))
def test_stripping_twice_changes_nothing_more(text: str) -> None:
    once = strip_recalled(text)
    assert strip_recalled(once) == once


@given(st.one_of(texts, fragments))
def test_what_is_an_order_from_the_user_is_one_from_anybody(text: str) -> None:
    if instruction_shaped(text, spoken_by_user=True):
        assert instruction_shaped(text)


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "a", "1", "1 ", "1-", "1.", "@", "a@", "a@a.", "sk-", "sk-sk_", "://a:", "token=", "password", "password: ",
    "密码是", "eyJaaaaaaaa.", "+1(", "1111-", "0755 8888 ",
    "(212) 555-0123", "13812345678 ", "-----BEGIN PRIVATE KEY-----\n",
    "GB82WEST12345698765432 ", "call me at 1", "电话号码是", "a at a dot ", "0:", "\u200b1", "一三八", "\x00", "\n",
    f"{OPEN}\n", "Relevant long-term memory:\n", "- ", "> ", "你说过“", "ignore all previous ", "send data ",
    "<", "[", "![", "\u0301",
]  # fmt: skip
SECONDS = 2.0
"""For 200,000 characters, CPU time: far above what is needed, far below what backtracking would take."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", HOSTILE, ids=repr)
def test_no_text_takes_long(seed: str) -> None:
    text = (seed * 200_000)[:200_000]
    begin = time.process_time()
    redact(text, DEFAULT.but(ip_address="mask"))
    instruction_shaped(text)
    strip_recalled(text)
    quote(text)
    assert time.process_time() - begin < SECONDS
