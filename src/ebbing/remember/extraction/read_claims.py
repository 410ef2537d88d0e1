"""What a trained reader thinks of the memories that a message would make: it drops wrong ones, and adds plain ones.

The rules nominate facts. The reader sees each of them beside its message and the turn before, and says how likely it is
true and worth keeping. Sentences of the speaker's that no rule reads are nominated as they were said.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType, Role
from ebbing.language.dates.resolve import absolute
from ebbing.language.text.detect_language import detect
from ebbing.language.text.sentences import QUOTED, sentences
from ebbing.ports.reader import MemoryClaim, Reader, Verdict
from ebbing.remember.facts.evidence import literal_span
from ebbing.remember.intake.screening import ScreenedMessage

_log: Final = logging.getLogger(__name__)
METHOD: Final = "reader"
"""How a memory is read that no rule reads."""
MIN_SENTENCE_CHARS: Final = 5
MAX_SENTENCE_CHARS: Final = 240
MAX_SENTENCES: Final = 12
"""Sentences of one message that are nominated."""
MAX_BEFORE_CHARS: Final = 240


@dataclass(frozen=True, slots=True)
class ReaderThresholds:
    """Least probabilities, each in [0, 1]."""

    rule: float = 0.35
    """Of a fact that a rule read."""
    weighed: float = 0.6
    """Of a fact that was read by what clauses like it are worth."""
    sentence: float = 0.8
    """Of a sentence that no rule read."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a memory of one kind is stored as."""

    type: MemoryType
    tags: tuple[str, ...]
    importance: float


_KINDS: Final = {
    "fact": _Kind(MemoryType.FACT, ("fact",), 0.85),
    "preference": _Kind(MemoryType.PREFERENCE, ("preference",), 0.9),
    "plan": _Kind(MemoryType.EPISODIC, ("plan",), 0.8),
    "event": _Kind(MemoryType.EPISODIC, ("event",), 0.6),
    "relation": _Kind(MemoryType.FACT, ("fact", "relationship"), 0.85),
    "health": _Kind(MemoryType.FACT, ("fact", "health"), 0.9),
    "constraint": _Kind(MemoryType.CONSTRAINT, ("constraint",), 0.9),
    "habit": _Kind(MemoryType.FACT, ("fact", "habit"), 0.75),
    "instruction": _Kind(MemoryType.CONSTRAINT, ("constraint",), 0.9),
}


async def read_claims(
    reader: Reader,
    facts: Sequence[Fact],
    *,
    screened: Sequence[ScreenedMessage],
    now: datetime,
    known_places: Collection[int] = (),
    earlier: Message | None = None,
    thresholds: ReaderThresholds = ReaderThresholds(),
) -> tuple[Fact, ...]:
    """Return the facts that the reader believes, and what it takes from sentences that gave no fact.

    A reader that fails changes nothing.

    Args:
        facts: what the rules read; a tentative one passes unread, since it ends or replaces something or is nothing.
        screened: the messages; those held back for review, and those at `known_places`, nominate nothing.
        now: the moment of a message without a timestamp; "tomorrow" counts from it.
        earlier: the turn before the first message, where it is known.
    """
    nominated = [
        fact
        for number in range(len(screened))
        if number not in known_places
        for fact in _nominate(number, screened[number])
    ]
    candidates = [fact for fact in facts if not fact.tentative] + nominated
    claims = [_claim(fact, screened, earlier=earlier) for fact in candidates]
    try:
        judged = await reader.worth(claims)
    except EbbingError as error:
        _log.warning("facts were not judged by the reader: %s", error)
        return tuple(facts)
    verdicts = dict(zip(map(id, candidates), judged, strict=True))
    believed = [
        fact for fact in facts if fact.tentative or _is_believed(fact, verdicts[id(fact)], thresholds=thresholds)
    ]
    covered = [(fact.source, fact.source_text or "") for fact in believed if not fact.tentative]
    for fact in nominated:
        verdict = verdicts[id(fact)]
        if verdict.worth >= thresholds.sentence and not _is_covered(fact, covered):
            said_at = screened[fact.source].message.timestamp or now
            believed.append(_as_kind(fact, verdict, said_at=said_at))
    return tuple(sorted(believed, key=lambda fact: fact.source))


def _nominate(number: int, screened: ScreenedMessage) -> list[Fact]:
    """Return the plain sentences of a message as facts in the speaker's own words."""
    message = screened.message
    if message.role is not Role.USER or screened.held_back is not None:
        return []
    nominated = []
    for sentence in sentences(message.content):
        text = literal_span(sentence.evidence, message.content)
        if sentence.asks or text is None or QUOTED in sentence.text:
            continue
        if MIN_SENTENCE_CHARS <= len(text) <= MAX_SENTENCE_CHARS:
            nominated.append(Fact(text=text, source=number, source_text=text, method=METHOD, understood=True))
    return nominated[:MAX_SENTENCES]


def _claim(fact: Fact, screened: Sequence[ScreenedMessage], *, earlier: Message | None) -> MemoryClaim:
    message = screened[fact.source].message
    before = screened[fact.source - 1].message if fact.source else earlier
    tail = _spoken(before, before.content[-MAX_BEFORE_CHARS:]) if before is not None else ""
    return MemoryClaim(tail, _spoken(message, message.content), fact.text)


def _spoken(message: Message, text: str) -> str:
    return f"{message.name or message.role.value}: {text}"


def _is_believed(fact: Fact, verdict: Verdict, *, thresholds: ReaderThresholds) -> bool:
    least = thresholds.weighed if "weighed" in (fact.rule or "") else thresholds.rule
    return verdict.worth >= least


def _is_covered(fact: Fact, covered: Sequence[tuple[int, str]]) -> bool:
    """Return whether a believed fact rests on the same words."""
    own = fact.source_text or ""
    return any(source == fact.source and (own in words or words in own) for source, words in covered)


def _as_kind(fact: Fact, verdict: Verdict, *, said_at: datetime) -> Fact:
    kind = _KINDS[verdict.kind]
    language = detect(fact.text)
    text = fact.text
    if kind.type is MemoryType.EPISODIC and language in {"en", "zh"}:
        text = absolute(text, now=said_at, language=language)
    return replace(fact, text=text, type=kind.type, tags=kind.tags, importance=kind.importance)
