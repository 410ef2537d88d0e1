"""The facts of messages, read by the rules or by a language model that the rules give hints to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from operator import attrgetter
from typing import Final

import numpy as np

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, WriteMode
from ebbing.domain.memory.record import QUARANTINED, Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, ROLES, micros
from ebbing.language.claims.claims import is_news, names_a_value, without_speaker
from ebbing.language.parsing.message_statements import MessageParser
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.text.statement import Statement
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.extraction.answers import PLACEHOLDER, SAME_TALK, is_for_another
from ebbing.remember.extraction.rule_extractor import ALONE, CHANGE_RULE, Conversation, extract
from ebbing.remember.extraction.running_talk import MIN_TURNS
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.llm.client import Budget, LlmOptions
from ebbing.remember.llm.write_modes import read_facts

_EARLIER_MESSAGES: Final = 4
"""Messages of the same conversation that are looked at as what was said before."""
_GAME_MESSAGES: Final = 24
"""The same where a game of roles may have begun."""
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
_ASKS: Final = re.compile(r"[?？]|[吗呢]\W*\Z")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts that were read, and the model that may be asked about them."""

    facts: tuple[Fact, ...]
    failed: ExtractionFailure | None = None
    """Some messages could not be read by the model: they are to be read again."""
    llm: LlmOptions | None = None
    """The model with the time that is left of the call; None where it was not asked, or failed."""
    unquoted: frozenset[int] = frozenset()
    """Places of messages whose words are not kept as a memory: a later one puts them right, or they are of a game."""
    before: tuple[Message, ...] = ()
    """The last messages of the same conversation, oldest first."""
    stored_before: tuple[MemoryRecord, ...] = ()
    """The last messages of the same conversation as they are stored, newest first."""
    question_message: str = ""
    """What the assistant said right before the first message, in an earlier call; "" where that asks nothing."""


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


async def with_talk_before(
    extraction: Extraction, screened: Sequence[ScreenedMessage], *, store: MemoryStore, scope: Scope, now: datetime
) -> Extraction:
    """Return what was read with what was said before it, and without what is said in a game of roles."""
    shard = await store.shard(scope)
    is_message = shard.alive & (shard.kind == KINDS.index(Kind.EPISODE))
    if scope.agent_id is not None:
        is_message = is_message & (shard.agent == shard.agents.find(scope.agent_id))
    if scope.run_id is not None:
        is_message = is_message & (shard.run == shard.runs.find(scope.run_id))
    rows = np.flatnonzero(is_message)
    if len(rows) > _GAME_MESSAGES:
        rows = rows[np.argpartition(shard.created[rows], -_GAME_MESSAGES)[-_GAME_MESSAGES:]]
    own_ids = {each.message.id for each in screened}
    stored = await store.get(scope, [shard.id_of(int(row)) for row in rows])
    first = screened[0].message
    said_at = first.timestamp or now
    records = [
        record for record in stored if record.created_at <= said_at and own_ids.isdisjoint(record.provenance.source_ids)
    ]
    by_time = attrgetter("created_at", "id")
    newest_first = sorted(records, key=by_time, reverse=True)
    before = _messages(newest_first)
    same_talk = [each for each in before if timedelta() <= said_at - (each.timestamp or now) <= SAME_TALK]
    of_a_game = _places_in_a_game(screened, same_talk)
    last = before[-1] if before and before[-1] in same_talk else None
    is_asked = last is not None and last.role is Role.ASSISTANT and first.role is Role.USER
    return replace(
        extraction,
        facts=tuple(fact for fact in extraction.facts if fact.source not in of_a_game),
        unquoted=of_a_game,
        before=tuple(before[-_EARLIER_MESSAGES:]),
        stored_before=tuple(newest_first),
        question_message=last.content if last is not None and is_asked and _ASKS.search(last.content) else "",
    )


async def with_certain_subjects(
    extraction: Extraction,
    screened: Sequence[ScreenedMessage],
    *,
    store: MemoryStore,
    scope: Scope,
    now: datetime,
    agent_facts: bool,
    known_places: Collection[int] = (),
    chosen: bool = False,
) -> Extraction:
    """Return what was read; where a first message leans on what was said before it, read again with that.

    A subject that was left out must be the speaker's there too, "she" is whom the messages before spoke of, and
    "peanuts" may answer what the assistant asked. A speaker with a name may be one of several. In a running talk much
    passes, unless the messages were `chosen` to be kept.
    """
    leans_back = bool(extraction.question_message) or _POINTS_BACK.match(screened[0].message.content) is not None
    texts = [each.message.content for each in screened if each.message.role is Role.USER]
    may_name = _MAY_NAME.search(". ".join(texts)) is not None
    introduced = await _introductions(texts, store=store, scope=scope, now=now) if may_name else []
    if 0 in extraction.unquoted or not (extraction.facts or leans_back or introduced):
        return extraction
    has_a_name = any(screened[fact.source].message.name is not None for fact in extraction.facts)
    in_talk = not chosen and await _is_in_talk(screened, store=store, scope=scope)
    earlier = list(extraction.before)
    if has_a_name:
        earlier = _messages((await store.page(scope, kinds=(Kind.EPISODE,), limit=_COMPANY_MESSAGES)).records)
    is_read_again = leans_back or has_a_name or in_talk or bool(introduced)
    is_open = any(fact.understood and fact.source == 0 for fact in extraction.facts)
    if not (earlier or in_talk or introduced) or not (is_read_again or is_open):
        return extraction
    again = filter_statements(
        screened,
        now=now,
        agent_facts=agent_facts,
        known_places=known_places,
        conversation=Conversation(earlier[-_EARLIER_MESSAGES:], _names_in(earlier), in_talk, introduced),
    )
    if not is_read_again:
        read_again = {fact.text for fact in again if fact.source == 0}
        certain = [fact for fact in extraction.facts if fact.source != 0 or fact.text in read_again]
        return replace(extraction, facts=tuple(certain))
    places = range(len(screened)) if introduced else range(int(leans_back))
    return _read_again(extraction, again, places=places)


def _places_in_a_game(screened: Sequence[ScreenedMessage], before: Sequence[Message]) -> frozenset[int]:
    """Return the places of the messages that are said in a game of roles, begun by one of them or before."""
    packs = Packs.load()
    for place, message in enumerate([*before, *(each.message for each in screened)], start=-len(before)):
        if message.role is Role.USER and MessageParser(message, None, packs, []).begins_a_game():
            return frozenset(range(max(place, 0), len(screened)))
    return frozenset()


def _read_again(extraction: Extraction, again: Sequence[Fact], *, places: Collection[int]) -> Extraction:
    """Return what was read the second time, of messages that gave facts before, and of those at `places`."""
    sources = {*places, *(fact.source for fact in extraction.facts)}
    return replace(extraction, facts=tuple(fact for fact in again if fact.source in sources))


async def _introductions(texts: Sequence[str], *, store: MemoryStore, scope: Scope, now: datetime) -> list[Message]:
    """Return where the speaker said who somebody is whom the messages call by name: "my daughter is called Ella".

    Of two people of one name nobody could tell which one is meant.
    """
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


async def previous_messages(
    store: MemoryStore, first: ScreenedMessage, *, scope: Scope, now: datetime
) -> list[Message]:
    """Return the last messages before the first one, oldest first: of its run, else of the hour; none that is held for
    review.
    """
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=_EARLIER_MESSAGES)
    said_at = first.message.timestamp or now
    since = said_at - SAME_TALK if scope.run_id is None else datetime.min.replace(tzinfo=UTC)
    return _messages([record for record in page.records if since <= record.created_at <= said_at])


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
    texts = [message.content for message in (*conversation.earlier, *messages)]
    for fact in facts:
        place = len(conversation.earlier) + fact.source
        is_read = fact.source not in known_places and screened[fact.source].held_back is None
        is_anothers = fact.sentence is not None and place > 0 and is_for_another(texts[place - 1], texts[: place - 1])
        if is_read and not is_anothers and not is_redacted(fact):
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
