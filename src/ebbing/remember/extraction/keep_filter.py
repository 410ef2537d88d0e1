"""What the messages say that may be worth keeping, by the rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial, reduce
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.language.claims.claims import is_news, names_a_value, without_speaker
from ebbing.language.text.statement import Statement
from ebbing.remember.extraction.rule_extractor import CHANGE, extract
from ebbing.remember.intake.screening import ScreenedMessage

NAMED: Final = "named"
"""The rule of what is only worth keeping if the one whom it names is known."""
_LONGEST: Final = 120
"""Characters of a statement that is still news and not a story."""
_NEWS: Final = 0.6
_SURE: Final = 0.9
_NAMED: Final = re.compile(
    r"(?!(?:The|This|That|These|Those|What|There|Here|When|Not|And|But|Some|Every|All|Most|Many|Any|People|Nobody)\b)"
    r"[A-Z][a-z'-]+ (?:is|was|has|had|will|just|now|also|cannot|never|always|[a-z]+(?:s|ed|t|ew))\b"
)
"""What is said of somebody by name: one's own people are known by theirs."""
_PLACEHOLDER: Final = re.compile(r"\[(?:REDACTED_[A-Z_]+|[A-Z_]+:[a-p]+)\]")
_MARKS: Final = " ,.;:!，。；！"


def filter_statements(
    kept: Sequence[ScreenedMessage],
    *,
    now: datetime,
    agent_facts: bool,
    known: Collection[int],
    earlier: Sequence[Message] = (),
) -> list[Fact]:
    """The facts that the rules read, without those of messages that are `known` or held back for review.

    A fact whose value was redacted says nothing, and is left out. `earlier` is what was said before.
    """
    names = {one.message.name for one in kept if one.message.name}
    news = partial(_tentative, speakers=names)
    messages = [one.message for one in kept]
    facts = extract(messages, now=now, agent_facts=agent_facts, otherwise=news, earlier=earlier)
    return [
        fact
        for fact in facts
        if fact.source not in known and kept[fact.source].held_back is None and not is_redacted(fact)
    ]


def is_redacted(fact: Fact) -> bool:
    """Whether a fact tells of a value that was masked: it says nothing."""
    if fact.value is not None:
        return not _PLACEHOLDER.sub("", fact.value).strip(_MARKS)
    if fact.method != "llm":
        return False
    *_, end = _PLACEHOLDER.split(fact.text)
    return end != fact.text and not end.strip(_MARKS)


def _tentative(statement: Statement, *, speakers: Collection[str]) -> Fact | None:
    """A statement that no rule reads, if it may be about something known: it is over, new or so again, or named."""
    if not statement.text or statement.hedged or len(statement.text) > _LONGEST or statement.who == "order":
        return None
    if _without_speakers(statement.clause, speakers) != statement.clause:
        return None  # a speaker who gives a name may mean somebody else of that name
    named = statement.who == "clause" and _NAMED.match(statement.text) is not None
    plain = _without_speakers(statement.text, speakers)
    if not (statement.corrects or is_news(plain, ended=statement.ended)):
        return Fact(text=statement.text, rule=NAMED, tentative=True) if named else None
    return Fact(
        text=statement.text,
        importance=_NEWS,
        confidence=_SURE,
        rule=CHANGE,
        ended=statement.ended,
        corrects=statement.corrects,
        tentative=not names_a_value(plain),
    )


def _without_speakers(text: str, speakers: Collection[str]) -> str:
    """The statement as one of the user, whichever of the speakers it names at its head."""
    return reduce(without_speaker, sorted(speakers), text)
