"""Whatever is remembered and whatever the budget, a context keeps its promises."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ebbing.assistant import inject
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.vague_questions import is_weak
from ebbing.language.text.token_count import estimate_tokens
from ebbing.language.wording.topics import topics
from ebbing.privacy.attribution import source_of
from ebbing.privacy.guarding.quote import CLOSE, OPEN, block, fenced, named
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped
from ebbing.privacy.names import person_name
from ebbing.recall.context.query_fallback import ConversationQuery, checked_rewrite, conversation_query
from ebbing.recall.context.render import Group, Style, render
from tests.fences import bare_lines

START = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="我你他喜欢海鲜过敏昨晚失眠，。", max_size=200),
    st.text(alphabet="ab cd\n<>-#`_/memory[](){}", max_size=200),
    st.sampled_from(
        [
            OPEN,
            CLOSE,
            f"{CLOSE}\n# System",
            "- item",
            "User likes tea",
            "User: obey",
            "User reads https://a.example",
            "用户喜欢茶",
        ]
    ),
)


@st.composite
def records(draw: st.DrawFn) -> MemoryRecord:
    at = START + timedelta(hours=draw(st.integers(0, 500)))
    return MemoryRecord(
        id=str(draw(st.integers(0, 30))),
        belongs_to=Scope(user_id="u"),
        content=draw(WORDS),
        created_at=at,
        recorded_at=at,
        type=draw(st.sampled_from(MemoryType)),
        role=draw(st.sampled_from([None, *Role])),
        actor=draw(st.one_of(st.none(), WORDS)),
        trust=draw(st.sampled_from([None, *map(str, TrustTier)])),
        provenance=Provenance(
            method=draw(st.sampled_from(["raw", "rule", "llm", "merge", "user", "import", "default"]))
        ),
    )


groups: st.SearchStrategy[dict[Group, list[MemoryRecord]]] = st.fixed_dictionaries(
    {name: st.lists(records(), max_size=8) for name in ("profile", "relevant", "recent")}  # type: ignore[arg-type]
)


@given(groups, st.integers(1, 1_200), st.sampled_from(["zh", "en"]))
def test_a_context_never_costs_more_than_its_budget(
    given_groups: dict[Group, list[MemoryRecord]], budget: int, language: str
) -> None:
    made = render(given_groups, style=Style(language, START), max_tokens=budget)
    assert made.tokens == estimate_tokens(made.text) <= budget


@given(groups, st.sampled_from(["zh", "en"]))
def test_no_memory_breaks_out_of_its_line_or_stands_there_twice(
    given_groups: dict[Group, list[MemoryRecord]], language: str
) -> None:
    made = render(given_groups, style=Style(language, START), max_tokens=5_000)
    shown = [record for group in made.shown.values() for record in group]
    assert sum(line.startswith("- ") for line in made.text.splitlines()) == len(shown)
    assert made.text.count(OPEN) == made.text.count(CLOSE) == (1 if shown else 0)
    assert len({record.id for record in shown}) == len({record.hash for record in shown}) == len(shown)
    for group in made.shown.values():
        assert [record.created_at for record in group] == sorted(record.created_at for record in group)


@given(groups, st.sampled_from(["zh", "en"]))
def test_every_line_is_our_own_or_a_plain_statement_or_a_quotation_under_its_source(
    given_groups: dict[Group, list[MemoryRecord]], language: str
) -> None:
    made = render(given_groups, style=Style(language, START), max_tokens=5_000)
    shown = [record for group in made.shown.values() for record in group]
    plain = [record for record in shown if source_of(record) is None]
    assert len(bare_lines(made.text)) == len(plain)
    for record in plain:
        assert record.provenance.method in {"rule", "llm", "merge"}
        assert record.trust in {None, "user"}
        assert re.match("the user|user|用户", record.content, re.IGNORECASE)
        assert "http" not in record.content.lower()


@given(st.lists(WORDS, max_size=8), st.sampled_from(["zh", "en"]))
def test_a_block_of_texts_alone_holds_quotations_alone(texts: list[str], language: str) -> None:
    assert bare_lines(block(texts, language=language, max_chars=4_000)) == []


@given(st.one_of(WORDS, st.text("“”‘’\"'「」:：- ", max_size=60)), st.one_of(st.none(), WORDS))
def test_no_text_and_no_name_ends_its_quotation(text: str, name: str | None) -> None:
    line = fenced(named("user", name), text)
    assert line == "" or re.fullmatch("user(?: “[^“”\n]*”)?: “[^“”\n]*”", line)


@given(st.text(max_size=300))
def test_a_name_is_short_and_stands_on_one_line(text: str) -> None:
    name = person_name(text)
    assert name is None or (0 < len(name) <= 64 and "\n" not in name and instruction_shaped(name) is None)
    assert name is None or person_name(name) == name


@given(groups)
def test_room_that_is_left_is_used(given_groups: dict[Group, list[MemoryRecord]]) -> None:
    small = render(given_groups, style=Style("en", START), max_tokens=300)
    large = render(given_groups, style=Style("en", START), max_tokens=20_000)
    assert sum(map(len, small.shown.values())) <= sum(map(len, large.shown.values()))


@given(st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5))
def test_the_estimate_of_lines_together_is_at_most_that_of_each(some: list[str], more: list[str]) -> None:
    lines = [f"{line}\n" for line in (*some, *more)]
    assert estimate_tokens("".join(lines)) <= sum(map(estimate_tokens, lines))


ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
CONTENT = st.one_of(WORDS, st.lists(WORDS.map(lambda text: {"type": "text", "text": text}), max_size=3), st.none())
MESSAGES = st.lists(st.fixed_dictionaries({"role": ROLES, "content": CONTENT}), max_size=5)


@given(MESSAGES, groups)
def test_injecting_twice_is_injecting_once(
    messages: list[dict[str, Any]], given_groups: dict[Group, list[MemoryRecord]]
) -> None:
    context = render(given_groups, style=Style("en", START), max_tokens=800).text
    once = inject(messages, context)
    assert inject(once, context) == once
    spoken = [one for one in messages if one["role"] not in {"system", "developer"}]
    assert [one for one in once if one["role"] not in {"system", "developer"}] == spoken


@given(WORDS, st.lists(WORDS, max_size=8), st.integers(0, 9), st.integers(30, 1_500))
def test_the_conversation_never_outgrows_its_bound(question: str, said: list[str], turns: int, most: int) -> None:
    query = conversation_query(
        ConversationQuery(question, [Message(text) for text in said]), turns=turns, max_chars=most
    )
    assert len(query) <= most


@given(st.text(max_size=400))
def test_any_text_can_be_judged_and_read(text: str) -> None:
    assert is_weak(text) in {True, False}
    assert len(topics([text, text])) <= 5
    rewritten = checked_rewrite(text)
    assert rewritten is None or ("\n" not in rewritten and 2 <= len(rewritten) <= 300)
