"""What a message leans on: "she's here, in the spare bed" says nothing without "mom's after having a fall"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import QUARANTINED, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.parsing.antecedents import fitting, persons_in
from ebbing.language.parsing.questions import kin_in
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.text.detect_language import detect
from ebbing.language.text.pieces import pieces
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped, trust_in
from ebbing.remember.extraction.answers import PLACEHOLDER, SAME_TALK
from ebbing.remember.extraction.salient_words import first_pronoun

LEAD_MESSAGES: Final = 4
"""Messages before one in which whom it only calls "she" may be named."""
_SPOKEN: Final = frozenset({TrustTier.USER, TrustTier.ASSISTANT})
_LEAST_CHARS, _MOST_CHARS = 4, 160
"""Of a lead."""
_SOMEBODY: Final = {
    "en": re.compile(
        r"(?i)\b(?:a|an|the|my|our|his|her|me) (?:\w+ ){0,2}(?:"
        r"friend|mate|boss|landlord|landlady|lodger|tenant"
        r"|man|fella|guy|woman|lady|girl|boy|kid|baby|lad"
        r"|neighbou?r|colleague|teacher|doctor|nurse"
        r"|ex|flatmate|housemate"
        r"|cat|dog|puppy|kitten|horse"
        r")\b"
    ),
    "zh": re.compile(
        r"朋友|同事|同学|闺蜜|房东|租客|邻居"
        r"|老板|领导|老师|师傅|徒弟|医生|护士"
        r"|男的|女的|猫|狗"
        r"|[\u4e00-\u9fff](?:姐|哥|叔|姨|嬢|婶|伯)"
        r"|(?<![\u4e00-\u9fff])[老小阿](?![家是实早时心吃区说事伙孩])[\u4e00-\u9fff]"
    ),
}
"""Somebody who has no name there, and is no relative."""
_NAME: Final = re.compile(
    r"(?<=[a-z0-9,;:)] )"
    r"(?<!\bin )(?<!\bat )(?<!\bon )(?<!\bfrom )"
    r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"|(?:January|February|March|April|May|June)\b"
    r"|(?:July|August|September|October|November|December)\b"
    r"|(?:English|French|German|Chinese|Spanish)\b)"
    r"[A-Z][a-z]+"
)
"""A word with a capital within a sentence that is no day, month or place as far as one can tell."""


def talk_before(
    newest_first: Sequence[MemoryRecord], scope: Scope, *, message: Message, now: datetime
) -> list[Message]:
    """Return what was said in the hour before a message, in just its scope, oldest first.

    A quotation may not outlast what names somebody for it, and only the talk itself counts, no document.
    """
    said_at = message.timestamp or now
    talk: list[Message] = []
    for record in reversed(newest_first):
        is_of_the_hour = said_at - SAME_TALK <= record.created_at <= said_at
        is_own = record.belongs_to == scope and trust_in(record) in _SPOKEN
        if is_of_the_hour and is_own and record.expires_at is None and QUARANTINED not in record.tags:
            talk.append(Message(record.content, record.role or Role.USER, name=record.actor, timestamp=record.said_at))
    return talk


def lead_before(message: Message, talk: Sequence[Message], *, now: datetime) -> str:
    """Return the last sentence of the same speaker before a message that speaks of somebody.

    "" where there is none, or it does not name just one whom the message may mean.

    Args:
        message: one of the talk of which it is open whom it tells.
        talk: what was said before it, oldest first; what is held for review is not there.
        now: when that was said which has no time.
    """
    recent = talk[-LEAD_MESSAGES:]
    names = {name.casefold() for each in [*recent, message] for name in _NAME.findall(each.content)}
    names.discard((message.name or "").casefold())
    for earlier in reversed(recent):
        if earlier.role is Role.USER and earlier.name == message.name and _is_of_this_talk(earlier, message, now=now):
            for piece in reversed(pieces(earlier.content)):
                if _speaks_of_somebody(lead := piece.strip(), names=names):
                    return lead if _names_one(lead, message.content, names=names) else ""
    return ""


def _names_one(lead: str, text: str, *, names: set[str]) -> bool:
    """Return whether a lead names just one whom the first pronoun of a text may mean.

    Of a name nobody knows the gender. Somebody by their part ("the landlord") counts where nobody else is named.
    """
    pack = Packs.load().by_language["zh" if detect(lead) == "zh" else "en"]
    pronoun = first_pronoun(text)
    if not pronoun:
        return False
    everybody = persons_in(lead, pack)
    persons = fitting(pronoun, everybody, pack=pack)
    words_of_persons = {word.casefold() for person in everybody for word in person.words}
    more_names = names.intersection(re.findall(r"[a-z]+", lead.casefold())) - words_of_persons
    if persons or more_names:
        return len(persons) + len(more_names) == 1
    return not everybody and _SOMEBODY[pack.language].search(lead) is not None


def _is_of_this_talk(earlier: Message, message: Message, *, now: datetime) -> bool:
    pause = (message.timestamp or now) - (earlier.timestamp or now)
    return timedelta() <= pause <= SAME_TALK


def _speaks_of_somebody(text: str, *, names: set[str]) -> bool:
    """Return whether a sentence speaks of a relative, of somebody by their part in the speaker's life, or by a name
    that the talk writes with a capital somewhere.
    """
    if not _LEAST_CHARS <= len(text) <= _MOST_CHARS or PLACEHOLDER.search(text) or instruction_shaped(text) is not None:
        return False
    language = "zh" if detect(text) == "zh" else "en"
    if kin_in(text, Packs.load().by_language[language]) or _SOMEBODY[language].search(text):
        return True
    return not names.isdisjoint(re.findall(r"[a-z]+", text.casefold()))
