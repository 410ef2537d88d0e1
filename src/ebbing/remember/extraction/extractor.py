"""The facts of messages, read by the rules or by a language model that the rules give hints to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial, reduce
from typing import Final

import numpy as np

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, WriteMode
from ebbing.domain.memory.record import QUARANTINED, Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, ROLES, micros
from ebbing.language.claims.claims import is_news, names_a_value, without_speaker
from ebbing.language.text.statement import Statement
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.extraction.rule_extractor import ALONE, CHANGE_RULE, Conversation, extract
from ebbing.remember.extraction.running_talk import MIN_TURNS
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.llm.client import Budget, LlmOptions
from ebbing.remember.llm.write_modes import read_facts

_EARLIER_MESSAGES: Final = 4
"""Messages of the same conversation that are looked at as what was said before."""
_COMPANY_MESSAGES: Final = 100
"""Messages that are looked at for who else takes part."""
_MOST_NAMES: Final = 64
"""People of whom the newest count."""
_MAY_NAME: Final = re.compile(
    r"(?:^|[.!?;,] )(?!I\b)[A-Z][a-zà-ÿ]+(?:['’]s)? "
    r"|(?:^|[,，。！!？?\s])[\u4e00-\u9fff]{2,3}[是有在对也都不没喜爱怕吃要会能]|[\u4e00-\u9fff]{2}过敏"
)
"""A clause that may begin with a name."""
_POINTS_BACK: Final = re.compile(
    r"(?i)\W*(?:(?:and|also|oh|well|so|but),? )*(?:he|she|it|they|his|her|its|their)(?:'s|\b)|\W*[他她它]"
)
"""A message that begins with somebody who was spoken of before."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts that were read, and the model that may be asked about them."""

    facts: tuple[Fact, ...]
    failed: ExtractionFailure | None = None
    """Some messages could not be read by the model: they are to be read again."""
    llm: LlmOptions | None = None
    """The model with the time that is left of the call; None where it was not asked, or failed."""
    put_right: frozenset[int] = frozenset()
    """Places of messages of which a later one says that they were wrong: their words are not kept as a memory."""


async def extract_facts(
    screened: Sequence[ScreenedMessage],
    *,
    mode: WriteMode,
    llm: LlmOptions | None,
    now: datetime,
    agent_facts: bool,
    known_places: Collection[int] = (),
    earlier: Sequence[Message] = (),
) -> Extraction:
    """Return the facts of the messages that are not `known_places`; of those that are held back for review, nothing.

    Never raises a `ModelError`. `earlier` are earlier turns of the same conversation.
    """
    read_by_rules = partial(filter_statements, screened, now=now, agent_facts=agent_facts, known_places=known_places)
    if llm is None or mode is WriteMode.RULES:
        return Extraction(tuple(read_by_rules()))
    budget = Budget(llm.budget_seconds)
    messages: list[Message] = []
    for message, _, held_back in screened:
        messages.append(message if held_back is None else replace(message, content=""))
    extraction = await read_facts(
        mode,
        messages,
        nominate=lambda _: read_by_rules(),
        llm=llm,
        now=now,
        agent_facts=agent_facts,
        before=earlier,
        known_places=known_places,
    )
    facts = tuple(fact for fact in extraction.facts if not is_redacted(fact))
    left = None if extraction.failed is not None else replace(llm, budget_seconds=budget.left)
    return Extraction(facts, extraction.failed, left)


async def with_certain_subjects(
    extraction: Extraction,
    screened: Sequence[ScreenedMessage],
    *,
    store: MemoryStore,
    scope: Scope,
    now: datetime,
    agent_facts: bool,
    chosen: bool = False,
) -> Extraction:
    """Return what was read; where a first message left its subject out, read again with what was said before it.

    A subject that was left out must be the speaker's there too, and "she" is whom the messages before spoke of. A
    speaker with a name may be one of several. In a running talk much passes, unless the messages were `chosen` to be
    kept. Only there the store is asked: most messages say of whom they speak.
    """
    points_back = bool(screened) and _POINTS_BACK.match(screened[0].message.content) is not None
    has_a_name = any(screened[fact.source].message.name is not None for fact in extraction.facts)
    is_read = bool(extraction.facts) or points_back
    in_talk = is_read and not chosen and await _is_in_talk(screened, store=store, scope=scope)
    spoken = ". ".join(each.message.content for each in screened if each.message.role is Role.USER)
    may_name = _MAY_NAME.search(spoken) is not None
    introduced = await _introductions(screened, store=store, scope=scope, now=now) if may_name else []
    if (
        not points_back
        and not introduced
        and not has_a_name
        and not in_talk
        and not any(fact.understood and fact.source == 0 for fact in extraction.facts)
    ):
        return extraction
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=_COMPANY_MESSAGES if has_a_name else _EARLIER_MESSAGES)
    earlier = _messages(page.records)
    if not earlier and not in_talk and not introduced:
        return extraction
    again = filter_statements(
        screened,
        now=now,
        agent_facts=agent_facts,
        known_places=(),
        conversation=Conversation(earlier[-_EARLIER_MESSAGES:], _names_in(earlier), in_talk, introduced),
    )
    if not (points_back or has_a_name or in_talk or introduced):
        texts = {fact.text for fact in again if fact.source == 0}
        certain = [fact for fact in extraction.facts if fact.source != 0 or fact.text in texts]
        return replace(extraction, facts=tuple(certain))
    places = range(len(screened)) if introduced else range(int(points_back))
    return _read_again(extraction, again, places=places)


def _read_again(extraction: Extraction, again: Sequence[Fact], *, places: Collection[int]) -> Extraction:
    """Return what was read the second time, of messages that gave facts before, and of those at `places`."""
    sources = {*places, *(fact.source for fact in extraction.facts)}
    return replace(extraction, facts=tuple(fact for fact in again if fact.source in sources))


async def _introductions(
    screened: Sequence[ScreenedMessage], *, store: MemoryStore, scope: Scope, now: datetime
) -> list[Message]:
    """Return where the speaker said who somebody is whom the messages call by name: "my daughter is called Ella".

    Of two people of one name nobody could tell which one is meant.
    """
    texts = [each.message.content for each in screened if each.message.role is Role.USER]
    shard = await store.shard(scope)
    codes = [code for name, code in shard.attributes.items() if name.endswith(".name")]
    rows = np.flatnonzero(shard.alive & np.isin(shard.attribute, codes) & (shard.valid_to > micros(now)))
    records = await store.get(scope, [shard.id_of(int(row)) for row in rows[-_MOST_NAMES:]]) if len(rows) else []
    times = Counter(record.value for record in records)
    return [
        Message(record.provenance.source_text or "", Role.USER, name=record.actor, timestamp=record.said_at)
        for record in records
        if record.value and times[record.value] == 1 and any(record.value in text for text in texts)
    ]


async def is_in_company(screened: Sequence[ScreenedMessage], *, store: MemoryStore, scope: Scope) -> bool:
    """Return whether the messages are part of a running talk with the assistant, or of a talk among several people."""
    names = {each.message.name for each in screened if each.message.role is Role.USER and each.message.name}
    if len(names) > 1 or await _is_in_talk(screened, store=store, scope=scope):
        return True
    shard = await store.shard(scope)
    is_message = shard.alive & (shard.kind == KINDS.index(Kind.EPISODE)) & (shard.role == ROLES.index(Role.USER))
    codes = {*shard.actor[is_message].tolist()}
    for name, code in shard.actors.items():
        if code in codes:
            names.add(name)
    return len(names) > 1


async def _is_in_talk(screened: Sequence[ScreenedMessage], *, store: MemoryStore, scope: Scope) -> bool:
    """Return whether the assistant has answered often enough, in these messages and before them."""
    turns = sum(each.message.role is Role.ASSISTANT for each in screened)
    if turns >= MIN_TURNS:
        return True
    shard = await store.shard(scope)
    answers = shard.alive & (shard.kind == KINDS.index(Kind.EPISODE)) & (shard.role == ROLES.index(Role.ASSISTANT))
    return turns + int(answers.sum()) >= MIN_TURNS


async def previous_messages(store: MemoryStore, scope: Scope) -> list[Message]:
    """Return the last messages of a conversation that is named by its run, oldest first; none of those held for
    review.
    """
    if scope.run_id is None:
        return []
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=_EARLIER_MESSAGES)
    return _messages(page.records)


def _names_in(messages: Sequence[Message]) -> set[str]:
    return {message.name for message in messages if message.role is Role.USER and message.name}


def _messages(newest_first: Sequence[MemoryRecord]) -> list[Message]:
    """Return what was said, oldest first, without what is held for review."""
    return [
        Message(record.content, record.role, name=record.actor, timestamp=record.said_at)
        for record in reversed(newest_first)
        if record.role is not None and QUARANTINED not in record.tags
    ]


NAMED_RULE: Final = "named"
"""The rule of what is only worth keeping if the one whom it names is known."""
_MAX_NEWS_CHARS: Final = 120
"""Characters of a statement that is still news and not a story."""
_NEWS_IMPORTANCE: Final = 0.6
_NEWS_CONFIDENCE: Final = 0.9
_NAMED: Final = re.compile(
    r"(?!(?:The|This|That|These|Those|What|There|Here|When|Not|And|But|Some|Every|All|Most|Many|Any|People|Nobody)\b)"
    r"[A-Z][a-z'-]+ (?:is|was|has|had|will|just|now|also|cannot|never|always|[a-z]+(?:s|ed|t|ew))\b"
)
"""What is said of somebody by name: one's own people are known by theirs."""
PLACEHOLDER: Final = re.compile(r"\[(?:REDACTED_[A-Z_]+|[A-Z_]+:[a-p]+)\]")
_MARKS: Final = " ,.;:!，。；！"


def filter_statements(
    screened: Sequence[ScreenedMessage],
    *,
    now: datetime,
    agent_facts: bool,
    known_places: Collection[int],
    conversation: Conversation = ALONE,
) -> list[Fact]:
    """Return the facts that the rules read, without those of messages that are `known_places` or held back for review.

    A fact whose value was redacted says nothing, and is left out.
    """
    messages = [screened_message.message for screened_message in screened]
    speakers = {message.name for message in messages if message.name}
    news = partial(_tentative, speakers=speakers)
    statements: list[Fact] = []
    facts = extract(
        messages,
        now=now,
        agent_facts=agent_facts,
        otherwise=news,
        conversation=conversation,
    )
    for fact in facts:
        is_read = fact.source not in known_places and screened[fact.source].held_back is None
        if is_read and not is_redacted(fact):
            statements.append(fact)
    return statements


def is_redacted(fact: Fact) -> bool:
    """Return whether a fact tells of a value that was masked: it says nothing."""
    if fact.value is not None:
        return not PLACEHOLDER.sub("", fact.value).strip(_MARKS)
    if fact.method != "llm":
        return False
    *_, end = PLACEHOLDER.split(fact.text)
    return end != fact.text and not end.strip(_MARKS)


def _tentative(statement: Statement, *, speakers: Collection[str]) -> Fact | None:
    """Return a statement that no rule reads, if it may be about something known: it is over, new or so again, or
    named.
    """
    if not statement.text or statement.hedged or len(statement.text) > _MAX_NEWS_CHARS or statement.who == "order":
        return None
    if _without_speakers(statement.clause, speakers) != statement.clause:
        return None  # a speaker who gives a name may mean somebody else of that name
    named = statement.who == "clause" and _NAMED.match(statement.text) is not None
    plain = _without_speakers(statement.text, speakers)
    if not (statement.corrects or is_news(plain, ended=statement.ended)):
        return Fact(text=statement.text, rule=NAMED_RULE, tentative=True) if named else None
    return Fact(
        text=statement.text,
        importance=_NEWS_IMPORTANCE,
        confidence=_NEWS_CONFIDENCE,
        rule=CHANGE_RULE,
        ended=statement.ended,
        corrects=statement.corrects,
        tentative=not names_a_value(plain),
    )


def _without_speakers(text: str, speakers: Collection[str]) -> str:
    """Return the statement as one of the user, whichever of the speakers it names at its head."""
    return reduce(without_speaker, sorted(speakers), text)
