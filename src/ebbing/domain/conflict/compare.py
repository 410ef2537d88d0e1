"""The comparison of a new claim with a known one: the same, more, a contradiction, or another matter.

Pure rules over two claims, that is over two statements in a form in which they can be compared (`language.claims` reads
them from text). Newer wins; who is older, or trusted less, is decided by the caller (`remember.reconcile.decide`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import or_
from typing import Final

from ebbing.domain.conflict.claim import Claim, Ending, Words
from ebbing.domain.conflict.replacement import is_outdone, replaced
from ebbing.domain.memory.record import MemoryType

SAME_MEANING_SIMILARITY: Final = 0.95
"""Calibrated similarity above which two texts say the same, if their numbers and most of their words agree."""
SAME_MATTER_SIMILARITY: Final = 0.85
"""Calibrated similarity from which they do if the new one brings no new content word."""
_MAX_EXTRA_WORDS: Final = 3
"""How many words more a statement may hold that takes up again what was over."""
BY_DAY: Final = frozenset({"wake_time", "bed_time", "commute"})
"""Attributes that may be otherwise at weekends."""
_YES_OR_NO: Final = frozenset({"yes", "no"})
_STAYS: Final = frozenset({"hometown", "birthday", "birth_year"})
"""Attributes that are so for good, also of who is dead."""
_MIN_FRAME_SHARE: Final = 0.6
"""Share of the words beside the figures that two statements need in common, where one says that it is new."""
MIN_SHARED_WORDS: Final = 0.5
"""Share of content words that two texts need in common, whatever their similarity is."""


class Relation(StrEnum):
    """The relation of a new claim to a known one."""

    SAME = "same"
    """It is known already."""
    RICHER = "richer"
    """It says what is known, and more."""
    CONTRADICTS = "contradicts"
    """Both cannot hold: the older one is over."""
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The relation, and why in words that never hold the text."""

    relation: Relation
    reason: str
    guess: bool = False
    """It holds only if no other memory stands so to the new claim."""


_SAME_FACT: Final = frozenset({Relation.SAME, Relation.RICHER})
"""They ask for the same person: the same subject, or an attribute that names whom it belongs to (`sister.name`)."""
APART: Final = Verdict(Relation.APART, "another matter")
REPLACED: Final = Verdict(Relation.CONTRADICTS, "it says that this is otherwise now", guess=True)

_Named = tuple[str | None, Words]
"""An attribute and the value that a claim gives it."""


def compare(new: Claim, old: Claim, *, similarity: float = 0.0) -> Verdict:
    """Return how `new` stands to `old`; `similarity` is the calibrated one of their texts, 0 where there are no
    vectors.
    """
    if new.speaker != old.speaker:
        return APART
    rules = (_by_attribute, _by_object, _by_end, _by_resumption, _by_negation, _by_number)
    result = next((verdict for rule in rules if (verdict := rule(new, old)) is not None), None)
    if result is None:
        result = _by_wording(new, old, similarity=similarity)
    same_person = new.subject == old.subject or ("." in (new.attribute or "") and new.attribute == old.attribute)
    if result.relation in _SAME_FACT and new.words != old.words and not same_person:
        return APART  # "my wife runs every day" says nothing of the speaker who does
    other = replaced(new, old) if result.relation is Relation.APART else is_outdone(new, old)
    return REPLACED if other and result.relation is not Relation.CONTRADICTS else result


def _by_attribute(new: Claim, old: Claim) -> Verdict | None:
    if _by_the_way(new, old):
        return Verdict(Relation.CONTRADICTS, f"another value for {readable((new.also or old.also or ('',))[0])}")
    if new.attribute is None or new.attribute != old.attribute or not new.value or not old.value:
        return None
    denied = (new.negated and not new.settled) or (old.negated and not old.settled)
    if denied or new.past != old.past:
        return None
    by_day = new.attribute in BY_DAY
    if new.occasion != old.occasion and (by_day or (new.occasion and old.occasion)):
        return APART
    if new.value == old.value:
        named = new.value <= _YES_OR_NO and not new.words <= old.words
        return None if named else _fuller(new, old, reason="this value is known")
    if within(old.value, new.value):
        return Verdict(Relation.RICHER, "it names the known value more exactly")
    if within(new.value, old.value) and not new.changed:
        return Verdict(Relation.SAME, "the known value is more exact")
    if (new.further and new.value | old.value != _YES_OR_NO) or not (new.single or new.changed):
        return APART
    return Verdict(Relation.CONTRADICTS, f"another value for {readable(new.attribute)}")


def _by_the_way(new: Claim, old: Claim) -> bool:
    """Return whether they differ in what one of them only names by the way."""
    if new.over or old.over or new.past or old.past or new.event or new.further or new.subject != old.subject:
        return False
    if new.subject and not new.changed:
        return False
    if _is_another_value(new.also, old.also) or _is_another_value(new.also, (old.attribute, old.value)):
        return True
    return _is_another_value((new.attribute, new.value), old.also)


def _is_another_value(new: _Named | None, old: _Named | None) -> bool:
    """Return whether both name one attribute, with values of which neither is part of the other."""
    if new is None or old is None or new[0] != old[0] or not new[1] or not old[1]:
        return False
    return not within(new[1], old[1]) and not within(old[1], new[1])


def _by_object(new: Claim, old: Claim) -> Verdict | None:
    if not (new.polarity and old.polarity and new.object and old.object):
        return None
    if new.subject != old.subject:
        return APART
    if new.object != old.object:
        return None if new.ends else APART
    if new.polarity == old.polarity:
        if new.words <= old.words:
            return Verdict(Relation.SAME, "this taste is known")
        if old.words < new.words:
            return Verdict(Relation.RICHER, "it says more about a known taste")
        return Verdict(Relation.SAME, "this taste is known") if new.adjunct == old.adjunct else APART
    if new.adjunct == old.adjunct or (not new.adjunct and (new.polarity < 0 or new.changed)):
        return Verdict(Relation.CONTRADICTS, "the opposite taste about the same thing")
    return APART


def _by_end(new: Claim, old: Claim) -> Verdict | None:
    once = old.event and not old.gained and old.attribute is None and not old.cues.aim
    for end in () if old.past else new.ends:
        if once and not end.needs:
            continue
        if old.over and not end.within and end.needs != "ban":
            continue
        if (
            not end.besides <= old.words | old.subject
            or (end.within and not end.within & old.words)
            or (end.ongoing and not old.lasting)
        ):
            continue
        if (end.planned and not old.plan) or (new.once and old.usual) or (end.ongoing and _settled_down(old)):
            continue
        subject = frozenset() if end.own else new.subject
        if any(rule(end, old, subject=subject) for rule in (_ends_attribute, _ends_words, _ends_taste, _ends_topic)):
            return Verdict(Relation.CONTRADICTS, "it says that this is over")
    return None


def _settled_down(old: Claim) -> bool:
    """Return whether somebody lives or works there: who is back from a place only left it for good if they say so."""
    matter = (old.attribute or "").rpartition(".")[2]
    return old.cues.dwells or old.cues.works or matter in {"home", "employer", "job", "workplace"}


def _ends_attribute(end: Ending, old: Claim, *, subject: Words) -> bool:
    if old.also is not None and old.also[0] in end.attributes and old.subject == subject:
        return not end.words or end.words <= old.words or within(old.also[1], end.object)
    if old.attribute is None:
        return False
    if old.subject == subject and old.value and old.value == end.object and not old.polarity:
        return True
    named = old.attribute in end.attributes and "." in old.attribute
    if not named and (old.attribute.rsplit(".", 1)[-1] not in end.attributes or old.subject != subject):
        return False
    return not end.words or within(old.value, end.words) or within(end.words, old.value) or end.words <= old.words


def _ends_words(end: Ending, old: Claim, *, subject: Words) -> bool:
    liked = end.object <= old.object and len(old.object - end.object) <= 1
    if old.polarity > 0 and old.object and not (liked or _opens(end.object, old.object)):
        return False  # who gives up tennis may like to watch it
    if (old.attribute or "").rpartition(".")[2] in _STAYS:
        return False
    if not end.words or not end.words <= old.words | old.kinds or len(old.words) > 3 * len(end.words) + 6:
        return False
    in_value = [any(word in value for value in old.value) for word in end.words]
    in_subject = [word in old.subject for word in end.words]
    by_name = any(in_subject) or any(word in old.cues.names or not word.isascii() for word in end.words)
    named = (
        old.subject
        and not (subject or end.ongoing)
        and by_name
        and any(in_value)
        and all(map(or_, in_value, in_subject))
    )
    same_subject = old.subject == subject or (not (old.subject and subject) and (old.subject or subject) <= end.words)
    return same_subject or end.words <= old.called or bool(named)


def _opens(short: Words, full: Words) -> bool:
    """Return whether a thing is called by the beginning of its name, of a script without spaces: 王者 for 王者荣耀."""
    for word in short:
        if len(word) < 2 or word.isascii():
            continue
        if any(name.startswith(word) and len(name) <= len(word) + 2 for name in full):
            return True
    return False


def _ends_taste(end: Ending, old: Claim, *, subject: Words) -> bool:
    """Return whether what was liked is liked no more: the thing itself is named, not something that is made of it."""
    return old.polarity > 0 and bool(old.object) and old.object == end.object and old.subject == subject


def _ends_topic(end: Ending, old: Claim, *, subject: Words) -> bool:
    """Return whether a memory tells what changed of a thing: its time if it was moved, its sum if that changed."""
    shared = end.topics & old.pairs
    named = any(pair in value for pair in shared for value in old.value)
    if not shared or old.past or (old.subject != subject and not named):
        return False
    return {
        "time": old.timed,
        "amount": old.summed,
        "plan": old.plan or old.timed,
        "ban": old.negated or old.polarity < 0 or old.type is MemoryType.CONSTRAINT,
    }.get(end.needs, True)


def _by_resumption(new: Claim, old: Claim) -> Verdict | None:
    """Return a contradiction where what was over is so again."""
    if new.over or new.is_wish or new.subject != old.subject or not (new.resumed or new.changed):
        return None
    for end in old.ends:
        in_words = bool(end.words) and end.words <= new.words and len(new.words - end.words) <= _MAX_EXTRA_WORDS
        by_name = new.resumed and bool(end.object) and spelled(end.object, new.words)
        if (in_words or by_name) and not end.within and not end.words <= new.subject:
            return Verdict(Relation.CONTRADICTS, "it says that this is so again")
    return None


def _by_negation(new: Claim, old: Claim) -> Verdict | None:
    """Return a contradiction where one says yes and the other no to the same words."""
    if new.negated == old.negated or old.event or new.subject != old.subject or new.past or old.past:
        return None
    if new.event and not (new.gained or new.resumed):
        return None
    new_words = new.words | new.kinds
    news = new.resumed or new.gained or (new.changed and (len(new.words - old.words) <= 1 or bool(old.object)))
    turned = news and old.negated and (old.words <= new_words or _taken_up(new, old))
    if old.words and (new.words == old.words or turned) and new.numbers >= old.numbers:
        return Verdict(Relation.CONTRADICTS, "the opposite of what is known")
    return None


def _taken_up(new: Claim, old: Claim) -> bool:
    """Return whether what was avoided is not avoided any more."""
    avoided = old.type is MemoryType.CONSTRAINT and old.polarity < 0 and new.polarity >= 0
    return avoided and bool(old.object) and old.object <= new.words


def _by_number(new: Claim, old: Claim) -> Verdict | None:
    """Return the verdict on the same words with other numbers: a new figure if the claim says so."""
    if new.numbers == old.numbers or not new.numbers or not old.numbers:
        return None
    frame, old_frame = new.words - new.numbers, old.words - old.numbers
    alike = new.subject == old.subject and len(frame & old_frame) >= _MIN_FRAME_SHARE * len(frame | old_frame)
    same_frame = (frame == old_frame or alike) and new.negated == old.negated
    if same_frame and new.changed and not new.event and not old.event and new.occasion == old.occasion:
        return Verdict(Relation.CONTRADICTS, "another figure for the same thing")
    return APART


def _by_wording(new: Claim, old: Claim, *, similarity: float) -> Verdict:
    if (new.negated, new.past, bool(new.ends)) != (old.negated, old.past, bool(old.ends)) or not new.words:
        return APART
    if (
        new.polarity * old.polarity < 0
        or (new.event, new.plan) != (old.event, old.plan)
        or new.occasion != old.occasion
    ):
        return APART
    if new.attribute and old.attribute and new.attribute != old.attribute:
        return APART
    shared = len(new.words & old.words) / len(new.words | old.words)
    if new.words == old.words:
        return Verdict(Relation.SAME, "known in other words")
    if similarity > SAME_MEANING_SIMILARITY and shared >= MIN_SHARED_WORDS and new.numbers == old.numbers:
        return _fuller(new, old, reason="known in other words")
    is_near = similarity >= SAME_MATTER_SIMILARITY or shared >= MIN_SHARED_WORDS
    if is_near and new.words < old.words and new.numbers <= old.numbers:
        return Verdict(Relation.SAME, "a known memory says this and more")
    more = old.words < new.words and old.numbers <= new.numbers and new.attribute == old.attribute
    if is_near and more:
        return Verdict(Relation.RICHER, "it says what is known, and more")
    return APART


def _fuller(new: Claim, old: Claim, *, reason: str) -> Verdict:
    """Return the verdict of the same; richer if every word of the old one is in the new one, and others are."""
    if old.words < new.words and len(new.words - old.words) >= 2 and new.attribute == old.attribute:
        return Verdict(Relation.RICHER, f"{reason}, and it says more")
    return Verdict(Relation.SAME, reason)


def within(part: Words, whole: Words) -> bool:
    """Return whether every word of `part` stands in `whole`, also as part of a longer word of a script without
    spaces.
    """
    return bool(part) and all(word in whole or _is_in_a_word(word, whole) for word in part)


def _is_in_a_word(part: str, words: Words) -> bool:
    return not part.isascii() and any(set(part) <= set(word) for word in words)


def spelled(thing: Words, words: Words) -> bool:
    """Return whether words, or single characters of a script without spaces, name the whole thing."""
    return all(word in words or (not word.isascii() and set(word) <= words) for word in thing)


def readable(attribute: str) -> str:
    """Return an attribute as a person would say it."""
    return attribute.replace(".", " ").replace("_", " ")
