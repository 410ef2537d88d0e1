"""What no rule reads and is worth remembering all the same: kept in the words of the person.

A trained model judges each message (`ports/models/salience.py`). It reads nothing out of it, so that nothing is retold,
and nobody is mistaken for another: the words stand as they were said, with their speaker and their date.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import NOTICED, MemoryType, Role
from ebbing.language.parsing.questions import ADDRESSED, kin_in
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.signals.shown_text import is_announced, own_rows, shown_texts
from ebbing.language.signals.talk_signs import shows
from ebbing.language.text.detect_language import detect
from ebbing.language.text.pieces import pieces
from ebbing.language.text.quotation import answer_quotation, led_quotation, quotation
from ebbing.ports.models.salience import Salience
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped
from ebbing.remember.extraction.answers import PLACEHOLDER, answered_question, is_for_another
from ebbing.remember.intake.screening import ScreenedMessage

LEAST: Final = 0.7
"""Probability from which a message is kept that comes by itself."""
LEAST_IN_COMPANY: Final = 0.78
"""The same of one of a running talk, or among people. Of those that are kept, nineteen in twenty are worth it."""
LEAST_AT_AN_END: Final = 0.4
"""The same of one that leaves a memory without ground: what a person told has changed, and this says to what."""
LEAST_READ: Final = 0.05
"""The same where a rule reads something from it. Two in five of those that are dropped were worth it, nine in ten of
those that are kept."""
LEAST_UNDERSTOOD: Final = 0.2
"""The same of a message by itself, where the rule took the speaker for a subject that is not named."""
LEAST_ANSWERED: Final = 0.3
"""The same of a short answer with its question, from which a rule reads something."""
_LEAST_CHARS: Final = 6
_MAX_CHARS: Final = 400
"""Of a longer message too little is about any one thing."""
_WORDS_BEFORE: Final = {"en": 3, "zh": 4}
"""Words, in Chinese characters, in which nobody is named by a name that is not written with a capital."""
READ_BACK: Final = 8
"""Messages before one in which somebody may be named whom it tells of."""
_CONFIDENCE: Final = 0.9
_ASKS: Final = re.compile(r"[?？][\"”’')）]*\s*$|^\W*(?:can|could|would|will) (?:you|u)\b|^\W*帮[我忙]", re.IGNORECASE)
"""A piece that asks something of the listener."""
_OF_YOU: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|u)\b|能不能|可不可以|可以|能[^\s，。]*吗|[行好][吗不]",
    re.IGNORECASE,
)
"""It asks something of the assistant."""
_PRONOUN: Final = {
    "en": re.compile(r"(?i)\b(?P<word>s?he|hers?|him|his)(?:['’]?s)?\b"),
    "zh": re.compile("(?<![其吉])(?P<word>[他她])"),
}
_SELF: Final = {
    "en": re.compile(r"(?i)\b(?:i|i['’]?m|i['’]?ve|i['’]?ll|i['’]?d|my|me|mine|myself|we|our|us)\b"),
    "zh": re.compile("[我俺咱]|本人|自己"),
}
_QUOTED: Final = re.compile(r"(?:^|(?<=[\s:：,，]))[“\"「『](?=\S)[^“”\"「」『』]{24,}(?<=\S)[”\"」』]")
"""A text that is to be worked on now: what asks for that is no wish for later."""
_CAPITAL: Final = re.compile(r"\b[A-Z][a-z]+")
_WITHIN: Final = re.compile(r"(?<=[a-z0-9,;:)] )[A-Z][a-z]+")
"""A word with a capital within a sentence …"""
_DOES: Final = re.compile(
    r"(?:^|[.!?…] )(?!(?:What|Which|Who|Where|When|Why|How|That|This|There|Here|It|He|She|They|You|We)\b)"
    r"[A-Z][a-z]+(?:['’]s| (?:has|had|is|was|needs|takes|got|said|says|can|will|must))\b"
)
"""… and one at its head that does something."""
_STARTERS: Final = frozenset(
    "Yes No Ok Okay And But So Then Also Well We It Its The This That Today Now Oh Hi Hey New Just".split()
)
"""Words with a capital that name nobody."""
_OWNER: Final = re.compile(r"(?<!^)\b[A-Z][a-z]+(?:['’]s\b| (?:has|had|is|was|needs|takes|got)\b)")
"""Somebody with a name of whom something is said."""
_USER: Final = {"en": "User", "zh": "用户"}


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a memory of a kind is."""

    type: MemoryType
    tags: tuple[str, ...]
    importance: float


_KINDS: Final = {
    "fact": _Kind(
        MemoryType.FACT,
        tags=("fact",),
        importance=0.8,
    ),
    "relation": _Kind(
        MemoryType.FACT,
        tags=("fact",),
        importance=0.8,
    ),
    "health": _Kind(
        MemoryType.FACT,
        tags=("fact",),
        importance=0.85,
    ),
    "habit": _Kind(
        MemoryType.FACT,
        tags=("fact", "habit"),
        importance=0.7,
    ),
    "preference": _Kind(
        MemoryType.PREFERENCE,
        tags=("preference",),
        importance=0.8,
    ),
    "constraint": _Kind(
        MemoryType.CONSTRAINT,
        tags=("constraint",),
        importance=0.85,
    ),
    "instruction": _Kind(
        MemoryType.PROCEDURAL,
        tags=("constraint",),
        importance=0.85,
    ),
    "plan": _Kind(
        MemoryType.EPISODIC,
        tags=("plan",),
        importance=0.7,
    ),
    "event": _Kind(
        MemoryType.EPISODIC,
        tags=("event",),
        importance=0.7,
    ),
}

_BINDING: Final = frozenset({"constraint", "instruction"})
"""Kinds that bind later answers."""
_BINDS: Final = re.compile(
    r"n['’]?t\b|\b(?:no|not|never|none|always|must|avoid|stop|without|instead|please|under|max|rules?|allerg\w*|call me"
    r"|intoleran\w*|from now on|every time|vegan|vegetarian|kosher|halal|c(?:o)?eliac|repl(?:y|ies)|answers?)\b"
    r"|\bonly (?:eat|drink|take|use|ever|want)"
    r"|(?<!特)(?<!分)别(?![的人墅处])|不(?!错)|只(?=[能要吃喝用许准])|[忌戒莫甭勿]|过敏|必须|一定|以后|每次|最多|都要|请"
    r"|得先|吃素|清真|叫我|称呼",
    re.IGNORECASE,
)
"""Nothing binds without such a word: the model is less sure of a kind than of what is worth remembering."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a message states, where all of it may be worth remembering."""

    source: int
    """Place of the message."""
    message: Message
    text: str
    """The whole message, or the pieces in a row that ask nothing."""
    read: Fact | None = None
    """What a rule read from it."""
    is_needed: bool = False
    """It counts whatever it is worth."""
    question: str = ""
    """The question that the text answers, where it would say nothing alone."""
    lead: str = ""
    """What was said before, where it names somebody whom the text only calls "she"."""

    @property
    def is_whole(self) -> bool:
        """Whether the message says nothing else, and says it by itself."""
        return self.text == self.message.content and not self.before

    @property
    def is_addressed(self) -> bool:
        """Whether the text answers a question to the speaker, with "you" or 你."""
        return any(addressed.search(self.question) is not None for addressed in ADDRESSED.values())

    @property
    def before(self) -> str:
        """The question that it answers, or what it leans on; "" where it stands alone."""
        return self.question or self.lead

    @property
    def full_text(self) -> str:
        """The text, behind what it leans on."""
        return f"{self.before} {self.text}" if self.before else self.text

    @property
    def passage(self) -> str:
        """The text with its speaker, as messages are embedded; an answer with its question instead."""
        return f"{self.message.name}: {self.full_text}" if self.message.name and not self.question else self.full_text

    def quoted(self) -> str:
        """Return the words as a memory."""
        language = "zh" if detect(self.text) == "zh" else "en"
        speaker = self.message.name or _USER[language]
        if self.question:
            return answer_quotation(self.text, speaker, question=self.question, language=language)
        if self.lead:
            return led_quotation(self.text, speaker, lead=self.lead, language=language)
        return quotation(self.text, speaker, language=language)


def words_around(fact: Fact, screened: Sequence[ScreenedMessage], *, is_alone: bool) -> Words | None:
    """Return the words of a fact that may be told as they stand; None where there are none.

    Args:
        is_alone: nothing else was read from its message: all that it states goes with it.
    """
    message, part = screened[fact.source].message, fact.source_text or ""
    for text in (_stated(message), part) if is_alone else (part,):
        may_be_told = 0 < len(text) <= _MAX_CHARS and PLACEHOLDER.search(text) is None
        language = "zh" if detect(text) == "zh" else "en"
        if may_be_told and part in text and not _begins_with_pronoun(text, language):
            return Words(fact.source, message, text, fact) if instruction_shaped(text) is None else None
    return None


def fact_in_own_words(words: Words, salience: Salience | None) -> Fact | None:
    """Return the fact that a rule read from words, as these words; None where they are worth nothing.

    What was read is compared, and gives the attribute its value. What nothing could judge is kept.
    """
    fact = words.read
    is_worthless = salience is not None and salience.probability < LEAST_READ
    if fact is None or (is_worthless and not words.is_needed):
        return None
    return replace(fact, text=words.quoted(), source_text=words.text, reading=fact.text)


def stated_words(
    screened: Sequence[ScreenedMessage], *, read_places: Collection[int], question_message: str = ""
) -> list[Words]:
    """Return what the user messages state in earnest, without those at `read_places`, held back, or with a mask.

    A short answer comes with its question first, then by itself.

    Args:
        question_message: what the assistant said right before the first message, in an earlier call.
    """
    stated: list[Words] = []
    for source, each in enumerate(screened):
        message = each.message
        if message.role is not Role.USER or each.held_back is not None or source in read_places:
            continue
        before = screened[source - 1].message if source else None
        text = "" if is_announced(message, before) else _stated(message)
        if not text or shows("jokes", text) or PLACEHOLDER.search(text) is not None:
            continue
        if shows("supposes", text) and not shows("grave", text):
            continue
        question = answered_question(screened, source, question_message=question_message)
        if question and not _is_order(f"{question} {text}", each):
            stated.append(Words(source, message, text, question=question))
        if _LEAST_CHARS <= len(text) <= _MAX_CHARS and not _is_order(text, each):
            stated.append(Words(source, message, text))
    return stated


def salient_fact(
    words: Words, salience: Salience, *, version: str, least: float = LEAST, before: Sequence[str] = ()
) -> Fact | None:
    """Return the quotation that is kept of a message; None where it is less likely worth it than `least`.

    Args:
        before: what was said before it in the same talk.
    """
    if salience.probability < least:
        return None
    if salience.kind == "instruction" and _QUOTED.search(words.text):
        return None
    kind = _KINDS[salience.kind]
    if salience.kind in _BINDING and not _BINDS.search(words.full_text):
        kind = _KINDS["fact"]
    is_grave = shows("grave", words.full_text)
    language = "zh" if detect(words.text) == "zh" else "en"
    is_open = _is_open(words, salience, before=before, language=language)
    if not words.lead and (is_open or _begins_with_pronoun(words.full_text, language)):
        return None
    return Fact(
        text=words.quoted(),
        type=kind.type,
        tags=(*kind.tags, "health") if is_grave else kind.tags,
        importance=kind.importance,
        confidence=_CONFIDENCE,
        source=words.source,
        source_text=words.text,
        rule=f"{NOTICED}:{version}",
        lasts=kind.type is not MemoryType.EPISODIC,
    )


def leaves_out_whose(words: Words, salience: Salience) -> bool:
    """Return whether it has to be certain of whom words tell: of an illness or a danger, and of what answers
    a question to nobody ("date of birth?").
    """
    return _is_of_health(words, salience) or (words.question != "" and not words.is_addressed)


def _is_of_health(words: Words, salience: Salience) -> bool:
    return salience.kind == "health" or shows("grave", words.full_text)


def _is_open(words: Words, salience: Salience, *, before: Sequence[str], language: str) -> bool:
    """Return whether it is open of whom words tell; an answer to "you" is of the speaker."""
    if words.is_addressed or not leaves_out_whose(words, salience):
        return False
    if _is_of_health(words, salience):
        return _leaves_open_who(words.full_text, before, language=language)
    return not _kin_in(words.full_text, language) and is_for_another(words.question, before)


def _leaves_open_who(text: str, before: Sequence[str], *, language: str) -> bool:
    """Return whether it is open whose illness a text tells.

    It names the speaker or, before any "her", another. Who is left out ("off the amlodipine as of today") is the
    speaker only where nobody else was spoken of in what was said before, as far as that is known.
    """
    pronoun = _PRONOUN[language].search(text)
    if pronoun is not None:
        return not _names_another(text[: pronoun.start()], language)
    if _SELF[language].search(text) or _kin_in(text, language) or _OWNER.search(text):
        return False
    is_of_another = (_speaks_of_another(text, language) for text in before[-READ_BACK:])
    return not before or any(is_of_another)


def first_pronoun(text: str) -> str:
    """Return the first "she" or 他 of a text, without what is joined to it; "" where there is none."""
    language = "zh" if detect(text) == "zh" else "en"
    pronoun = _PRONOUN[language].search(text)
    return pronoun["word"] if pronoun else ""


def says_only_she(text: str) -> bool:
    """Return whether a text speaks of "her" or 他 and has named nobody before."""
    language = "zh" if detect(text) == "zh" else "en"
    pronoun = _PRONOUN[language].search(text)
    return pronoun is not None and not _names_another(text[: pronoun.start()], language)


def _begins_with_pronoun(text: str, language: str) -> bool:
    """Return whether a text speaks of "her" or 他 before anybody can have been named: read alone, it may be anyone."""
    pronoun = _PRONOUN[language].search(text)
    if pronoun is None or _names_another(text[: pronoun.start()], language):
        return False
    before = text[: pronoun.start()]
    return len(before.split() if language == "en" else before) <= _WORDS_BEFORE[language]


def _names_another(text: str, language: str) -> bool:
    return _kin_in(text, language) or any(name not in _STARTERS for name in _CAPITAL.findall(text))


def _speaks_of_another(text: str, language: str) -> bool:
    """Return whether a text speaks of somebody else; that a sentence begins with a capital says nothing."""
    if _kin_in(text, language) or _PRONOUN[language].search(text):
        return True
    return any(name not in _STARTERS for name in _WITHIN.findall(text)) or _DOES.search(text) is not None


def _kin_in(text: str, language: str) -> bool:
    return bool(kin_in(text, Packs.load().by_language[language]))


def _is_order(text: str, source: ScreenedMessage) -> bool:
    """Return whether a text speaks like an order to the model; how to answer is a user's to say."""
    return instruction_shaped(text, spoken_by_user=source.tier is TrustTier.USER) is not None


def _stated(message: Message) -> str:
    """Return the longest row of pieces that ask nothing, a literal part of the message.

    "Can you use metric from now on?" asks nothing: it says how to answer. A text that is not the speaker's own is left
    out, unless the row says whose it is.
    """
    content = message.content
    rows: list[tuple[int, int]] = []
    begin = place = 0
    for piece in pieces(content):
        is_wish = _OF_YOU.search(piece) is not None and shows("standing", piece)
        if _ASKS.search(piece) and not is_wish:
            rows.append((begin, place))
            begin = place + len(piece)
        place += len(piece)
    rows.append((begin, place))
    own = (content[first:last].strip() for first, last in own_rows(rows, shown_texts(content, name=message.name or "")))
    return max(own, key=len)
