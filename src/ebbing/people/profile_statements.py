"""Memories as statements about a person that can be gathered under what they speak of.

What a statement speaks of is its *slot*: an attribute (`home`), a thing that is liked or not, a rule, or else itself.
Statements of one slot say the same, or contradict each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ebbing.domain.conflict.claim import Words
from ebbing.domain.memory.profile import Rank, Section
from ebbing.domain.memory.record import DOUBTED, QUARANTINED, MemoryRecord, MemoryType
from ebbing.language.claims.change_patterns import changes
from ebbing.language.claims.normalize_values import object_of, value_of
from ebbing.language.signals.preferences import Tastes, read_tastes
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import lead_in, quoted_words
from ebbing.privacy.guarding.trust import Act, TrustTier, instruction_shaped, may, trust_in

PROFILE_TYPES: Final = (
    MemoryType.PREFERENCE,
    MemoryType.CONSTRAINT,
    MemoryType.FACT,
    MemoryType.PROCEDURAL,
    MemoryType.SEMANTIC,
)
"""Events and raw messages are told by recall, not by a profile."""
YES_NO: Final = frozenset({"yes", "no"})
MAX_KEY: Final = 80
"""Characters of a key."""
BINDING: Final = frozenset({MemoryType.CONSTRAINT, MemoryType.PROCEDURAL})
"""What the person requires or forbids."""
_SAFETY_TAGS: Final = frozenset({"health", "diet"})
_PERSON: Final = re.compile(r"^(?:user|assistant)(?:'s)? +|^(?:用户|助手)(?:的|要求:)? *", re.IGNORECASE)
_INTOLERANCE: Final = re.compile(
    r"过敏|吃不了|喝不了|不能[吃喝碰]|忌口|\ballerg|\bepi-?pen|\banaphyla|\bc(?:o)?eliac|\bintoleran"
    r"|(?<!they )(?<!you )(?<!we )\bcan(?:no|'|’)?t (?:eat|have|drink|take)\b"
)
_IDENTITY: Final = frozenset({"name", "preferred_name", "age", "birthday", "gender", "pronouns"})
_OWN: Final = frozenset({TrustTier.USER, TrustTier.IMPORT})
"""Whose wishes about how to be answered count."""
_NO_CHOICE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class ProfileStatement:
    """What one memory says of a person."""

    slot: str
    section: Section
    key: str
    value: str
    rank: Rank
    safety: bool
    record: MemoryRecord
    means: Words
    """The value in a form in which two can be compared."""
    avoids: tuple[str, ...] = ()
    """What the person must not have, by their own rule."""
    denied: bool = False
    """It says that something does not bind them: it ends what says so, and is no entry itself."""
    manner: frozenset[str] = _NO_CHOICE
    """How they want to be answered: the choices that it makes (`language`, `tone`, `length`)."""


def profile_statement(record: MemoryRecord, *, speaker: str | None = None) -> ProfileStatement | None:
    """What a memory says of a person; None for what has no place in a profile: events, what is over, what rests on the
    word of a tool or a document, what only calls somebody "she", and what gives an order that nobody may give.

    Args:
        speaker: the speaker's name, where the memories are of several people who are told apart by name.
    """
    if (
        DOUBTED in record.tags
        or record.type not in PROFILE_TYPES
        or not may(trust_in(record), Act.PREFER)
        or is_order(record)
        or lead_in(record.content)
    ):
        return None
    normal = normalise(quoted_words(record.content) or record.content)
    bears_on_health = not _SAFETY_TAGS.isdisjoint(record.tags)
    denied = _answer(record) == "no" and (record.type in BINDING or bears_on_health)
    tastes = Tastes() if denied else _rules_in(record)
    safety = not denied and (bears_on_health or bool(tastes.avoids) or _forbids(record))
    binds = bears_on_health or _forbids(record) or record.type is MemoryType.PROCEDURAL
    if not binds and record.attribute is None and _says_little(record, normal):
        return None
    language = _language(record)
    relation = _subject_of(record.content, language)
    section = _section(record, relation)
    key, slot = _named(record, section=section, normal=normal, language=language)
    value = record.value or bare(record.content)
    if _answer(record) is not None:
        key = value = tastes.avoids[0] if len(tastes.avoids) == 1 else bare(record.content)
        key, slot = normalise(key), f"whether:{record.attribute}"
    manner = _manner(tastes) if record.type is MemoryType.PROCEDURAL and relation is None else _NO_CHOICE
    if manner:
        slot = f"manner:{'+'.join(sorted(manner))}"
    for owner in (None if record.attribute else relation, speaker and normalise(speaker)):
        if owner:
            key, slot = f"{owner}.{key}", f"{owner}.{slot}"
    return ProfileStatement(
        slot=slot,
        section=section,
        key=key[:MAX_KEY],
        value=value,
        rank=_rank(record, section, safety=safety),
        safety=safety,
        record=record,
        means=value_of(record.value, record.attribute) if record.value else frozenset({slot}),
        avoids=_avoided(record, tastes) if relation is None and not denied else (),
        denied=denied,
        manner=manner,
    )


def _says_little(record: MemoryRecord, normal: str) -> bool:
    """Whether it is over, or quotes no taste, nothing of who the person is, nor what they cannot eat."""
    if quoted_words(record.content) is not None:
        return record.polarity == 0 and "identity" not in record.tags and _INTOLERANCE.search(normal) is None
    return record.type is MemoryType.FACT and _is_over(normal)


def is_order(record: MemoryRecord) -> bool:
    """Whether it is held back for review, or would be, had it been said."""
    if QUARANTINED in record.tags:
        return True
    text = f"{record.content}\n{record.value or ''}"
    return instruction_shaped(text, spoken_by_user=trust_in(record) in _OWN) is not None


def bare(text: str) -> str:
    """A statement without the person at its head and without a stop at its end; of a quotation the words."""
    return _PERSON.sub("", quoted_words(text) or text, count=1).strip(" .。")


def _answer(record: MemoryRecord) -> str | None:
    """`yes` or `no`, where the attribute asks whether something is so ("can speak french")."""
    value = normalise(record.value).strip() if record.attribute and record.value else ""
    return value if value in YES_NO else None


def _named(record: MemoryRecord, *, section: Section, normal: str, language: str) -> tuple[str, str]:
    """The key under which it is shown, and the slot."""
    if record.attribute is not None:
        return record.attribute, f"attribute:{record.attribute}"
    value = normalise(record.value).strip() if record.value else ""
    if record.polarity and record.type is MemoryType.PREFERENCE and value:
        head, details = object_of(record.value, language)
        return value, f"taste:{' '.join(sorted(head))}|{' '.join(sorted(details))}"
    if section is Section.CONSTRAINTS and value:
        return value, f"rule:{value}"
    statement = bare(normal)
    return statement, f"said:{statement}"


def _rules_in(record: MemoryRecord) -> Tastes:
    """What a rule, or a memory about health, says must be avoided, and how to answer."""
    binds = record.type in BINDING or not _SAFETY_TAGS.isdisjoint(record.tags)
    return read_tastes([quoted_words(record.content) or record.content]) if binds else Tastes()


def _manner(tastes: Tastes) -> frozenset[str]:
    manner = tastes.manner
    length = manner.max_words or manner.max_characters or manner.brief
    choices = {"language": manner.language, "tone": manner.tone, "length": length}
    return frozenset(name for name, choice in choices.items() if choice)


def _section(record: MemoryRecord, relation: str | None) -> Section:
    if record.type in BINDING and not (record.type is MemoryType.PROCEDURAL and record.attribute):
        return Section.CONSTRAINTS
    if record.type is MemoryType.PREFERENCE and relation is None:
        disliked = record.polarity < 0 or (not record.polarity and "dislike" in record.tags)
        return Section.DISLIKES if disliked else Section.PREFERENCES
    return Section.FACTS


def _rank(record: MemoryRecord, section: Section, *, safety: bool) -> Rank:
    if "identity" in record.tags or record.attribute in _IDENTITY:
        return Rank.IDENTITY
    if safety or section is Section.CONSTRAINTS:
        return Rank.BINDING
    if section is not Section.FACTS:
        return Rank.TASTE
    return Rank.HABIT if record.type is MemoryType.SEMANTIC else Rank.FACT


def _subject_of(text: str, language: str) -> str | None:
    """The relation that a statement is about ("sister"), None for the person."""
    match = changes().subject[language].match(text)
    return normalise(match["who"]) if match else None


def _forbids(record: MemoryRecord) -> bool:
    return record.type is MemoryType.CONSTRAINT and record.polarity < 0


def _avoided(record: MemoryRecord, tastes: Tastes) -> tuple[str, ...]:
    own = (normalise(record.value),) if _forbids(record) and record.value else ()
    return tuple(dict.fromkeys((*tastes.avoids, *own)))


def _is_over(normal: str) -> bool:
    signs = changes().signs
    return signs["past"].search(normal) is not None or signs["over"].search(normal) is not None


def _language(record: MemoryRecord) -> str:
    return "zh" if (record.language if record.language in {"zh", "en"} else detect(record.content)) == "zh" else "en"
