"""What is kept of a running talk with the assistant: where somebody chats for long, most of it passes.

Somebody who tells a memory one thing means it. Who has talked with the assistant for some turns thinks aloud, jokes,
asks for something once, and tells what is over next week. There a fact is told only where nothing in it passes by
nature, and a wish only where its words say that it holds on. Anything else stays a message, found with its date.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType
from ebbing.language.signals.talk_signs import shows
from ebbing.language.text.statement import Sentence, Statement
from ebbing.remember.extraction.among_people import NAMES, is_kept_among_people

MIN_TURNS: Final = 3
"""Turns of the assistant from which a talk is running."""
_HEALTH: Final = frozenset({"health", "diet"})
_OF_A_LIFE: Final = frozenset({"age", "birthday"})
"""Attributes that a day belongs to."""
_MOST: Final = 0.6
_WHOLE: Final = re.compile(r"[A-Z\d\u4e00-\u9fff“\"][^?？]*[.。!！]")
"""A message in sentences that begin and end."""
_CLAUSE_END: Final = re.compile(r"[,，。;；!！?？]")
_BARE_AGE: Final = re.compile(r"\d$")
"""A Chinese age without 岁 is a number and nothing else."""


def is_plain(message: Message, *, understood: float) -> bool:
    """Return whether a message is written to be read: in whole sentences, most of which the rules understand.

    Args:
        understood: the share of the message's letters that something was read from.
    """
    return understood >= _MOST and _WHOLE.fullmatch(message.content.strip()) is not None


def is_kept_in_talk(
    fact: Fact,
    statement: Statement,
    *,
    sentence: Sentence,
    message: Message,
    said_at: datetime,
    to_assistant: bool,
    plain: bool,
) -> bool:
    """Return whether a fact of a running talk holds for long, plainly enough to be told.

    Args:
        to_assistant: the speaker talks to the assistant, and to nobody else who takes part.
        plain: the message is plain, and no chatter among people: what is usual, or has its date, may be told too.
    """
    if statement.who == "order":
        return to_assistant and is_standing_wish(statement, sentence, message=message)
    if fact.corrects or fact.rule == "change":
        return False
    if _is_grave(fact, statement, sentence=sentence) or (
        to_assistant and _answers_for_good(fact, statement, sentence=sentence, message=message)
    ):
        return True
    is_whole = plain and not (sentence.answers or statement.pronoun) and statement.implied is None
    if not is_whole and not is_kept_among_people(
        fact, statement, sentence=sentence, message=message, to_assistant=to_assistant
    ):
        return False
    if fact.understood or not _names_itself(statement, sentence):
        return False
    if _passes(fact, statement, said_at=None if plain else said_at):
        return False
    if shows("jokes", message.content) or (shows("laughs", message.content) and _HEALTH.isdisjoint(fact.tags)):
        return False
    if shows("before_purpose", sentence.evidence.partition(statement.clause)[0]):
        return False
    if statement.negated and shows("purpose", sentence.evidence):
        return False
    is_particular = shows("particular", statement.predicate) or (not plain and shows("own", statement.predicate))
    return fact.type is not MemoryType.PREFERENCE or not is_particular


def _answers_for_good(fact: Fact, statement: Statement, *, sentence: Sentence, message: Message) -> bool:
    """Return whether a fact is the answer to a question about the speaker, and holds for longer than this talk.

    Who goes by a name has told it: another is a part in a game.
    """
    is_answer = sentence.answers and statement.implied is None
    is_certain = not (fact.understood or statement.pronoun or fact.tentative or shows("jokes", message.content))
    return is_answer and is_certain and fact.lasts and not (message.name and fact.attribute in NAMES)


def _names_itself(statement: Statement, sentence: Sentence) -> bool:
    """Return whether a clause of the speaker stands in its sentence as it was read; where it was put into other words,
    the sentence has to name the speaker, in Chinese in its first clause.
    """
    if statement.relation is not None or statement.clause in sentence.evidence:
        return True
    if statement.clause.isascii():
        return shows("speaker", sentence.evidence)
    return shows("speaker", _CLAUSE_END.split(sentence.evidence, maxsplit=1)[0])


def _is_grave(fact: Fact, statement: Statement, *, sentence: Sentence) -> bool:
    """Return whether somebody who is named has what harms for life; a part of a story may be about anybody."""
    if sentence.answers or statement.pronoun or fact.understood or statement.implied is not None:
        return False
    return shows("grave", statement.clause) and shows("grave", fact.text)


def _passes(fact: Fact, statement: Statement, *, said_at: datetime | None) -> bool:
    """Return whether a fact is of a time that ends, or says nothing that anybody would ask for.

    Args:
        said_at: the moment after which no day may lie; None where a day may be told.
    """
    if "education" in fact.tags:
        return not shows("schooling", fact.text)
    if "identity" in fact.tags and statement.negated:
        return True
    attribute = (fact.attribute or "").rpartition(".")[2]
    if attribute == "age" or "age" in (fact.rule or ""):
        is_to_come = shows("turns", statement.clause)
        is_dated_before = said_at is not None and fact.happens_to is not None and fact.happens_to <= said_at
        return (is_to_come and is_dated_before) or (
            _BARE_AGE.search(fact.text) is not None and not statement.clause.isascii()
        )
    if attribute in _OF_A_LIFE:
        return False
    if "health" in fact.tags:
        return shows("for_now", statement.clause)
    if fact.happens_to is not None:
        return said_at is not None and fact.happens_to > said_at
    is_habit = said_at is None and shows("habitual", statement.clause)
    return shows("passes", statement.clause) and "diet" not in fact.tags and not is_habit


# A wish to the assistant: it holds on where its words say so, where rules are laid down, or where it is about the
# manner of answers and of address.


def is_standing_wish(statement: Statement, sentence: Sentence, *, message: Message) -> bool:
    """Return whether a wish holds for more than this time."""
    clause = statement.clause
    if shows("once", clause) or shows("takes_back", clause) or shows("leans", clause):
        return False
    if shows("holds_on", clause) or shows("lays_down", message.content):
        return True
    head = sentence.evidence.partition(clause)[0] if clause in sentence.evidence else ""
    if not shows("own_head", head):
        return False
    return shows("manner", clause) and not shows("once", message.content)
