"""The check that a statement may close a memory. Every closing passes it, by rules or by a model.

A closing needs the same subject, and a matching attribute, object or thing that both name; a name in common is not
enough. What warns of harm is ended only by a statement that names it. A statement may end two memories at most.
"""

from __future__ import annotations

from typing import Final

from ebbing.domain.conflict.claim import STATE_ENDING, Claim, Words
from ebbing.domain.conflict.compare import BY_DAY
from ebbing.domain.conflict.replacement import SAME_KIND, goes_elsewhere

MAX_CLOSED: Final = 2
"""Memories that one sentence may end; of one that could end more it is not certain what it means."""
OF_ANYTHING: Final = frozenset({"age", "weight", "height", "name", "birthday", "birth_year", "color", "price"})
"""Attributes that animals and things have too: their value needs a sentence that says whose it is."""
_GROWS: Final = "age"
_VARIES: Final = "weight"
_MAX_WEIGHT_CHANGE: Final = 0.1
"""Share of a known weight by which the next weighing may differ and is certainly of the same person."""
_INSTEAD: Final = "instead"
_NO: Final = frozenset({"no"})
_HOME: Final = "home"
DOUBTED_SUBJECT: Final = "it does not say whom it is about"
_OF_ONESELF: Final = frozenset({"job", "employer", "position", "workplace"})
"""Attributes of the person alone; what else a memory of them tells stays true when their value changes."""
_HIRED: Final = frozenset(
    "boss manager supervisor mentor advisor coach trainer tutor teacher therapist doctor dentist gp physio lawyer"
    " accountant hairdresser nanny cleaner carer babysitter landlord landlady colleague assistant".split()
)
"""Whose work for the speaker is all that they are to them."""
DOUBTED_REST: Final = "it would end more than what it speaks of"
DOUBTED_NAME: Final = "what somebody does changes nothing of what they are called"
DOUBTED_HARM: Final = "it does not name what must be taken care of"


def doubt(new: Claim, old: Claim) -> str | None:
    """Why `new` may not end `old`, in words that never hold the text; None where it may."""
    if new.speaker != old.speaker:
        return "another speaker said it"
    of_others = new.subject and old.about.joint
    if of_others or new.about.foreign != old.about.foreign or not _same_subject(new, old):
        return "it is about somebody or something else"
    if _same_attribute(new, old):
        if not _is_certain(new, old):
            return DOUBTED_SUBJECT
        if new.value == _NO and old.about.safety and not _names(old.about.safety, new):
            return DOUBTED_HARM
        return DOUBTED_REST if _tells_of_a_family(old) and not new.about.family else None
    if _tells_a_name(old) and _ends_work(new) and not _ends_attribute(new, old):
        return DOUBTED_NAME
    if old.about.safety and not (_ends_state(new, old) or _resumes(new, old) or _names(old.about.safety, new)):
        return DOUBTED_HARM
    if not any(ground(new, old) for ground in _GROUNDS):
        return "nothing but a name or a time in common"
    return None


def _tells_a_name(old: Claim) -> bool:
    """Return whether a memory tells what somebody is called who is more to the speaker than their work."""
    who, _, attribute = (old.attribute or "").rpartition(".")
    return attribute == "name" and who not in _HIRED


def _ends_work(new: Claim) -> bool:
    """Return whether a statement says that some work is over: "Tom quit", 陈默辞职了."""
    return any(not _OF_ONESELF.isdisjoint(end.attributes) for end in new.ends)


def _same_subject(new: Claim, old: Claim) -> bool:
    """Return whether both are about the same person or thing, or one names the subject of the other."""
    if new.subject == old.subject or any(end.own for end in new.ends):
        return True
    if old.attribute is not None and any(old.attribute in end.attributes for end in new.ends):
        return True
    if new.subject and old.subject:
        return bool(old.called) and old.called <= new.words | new.subject
    if old.subject:
        return old.subject <= new.words | new.kinds or any(stands_in(end.words, old) for end in new.ends)
    return new.subject <= old.words | old.kinds


def _same_attribute(new: Claim, old: Claim) -> bool:
    mine = {new.attribute, new.also[0] if new.also else None} - {None}
    return not mine.isdisjoint({old.attribute, old.also[0] if old.also else None})


def _tells_of_a_family(old: Claim) -> bool:
    """Return whether a memory of another matter tells of children, a partner or pets beside: "a plumber with two
    kids".
    """
    return old.about.family and not old.subject and (old.attribute or "").rpartition(".")[2] in _OF_ONESELF


def _is_certain(new: Claim, old: Claim) -> bool:
    """Return whether a value is certainly the one of whom the memory is about."""
    if new.corrects or new.subject or new.about.named:
        return True
    if new.attribute == _GROWS:
        return _is_a_year_older(new.value, old.value)
    if new.attribute == _VARIES and new.changed and not new.about.bare and _is_near(new.value, old.value):
        return True
    if new.attribute == _HOME and all(word.isascii() for word in new.value):
        return new.cues.dwells  # who only "moved to Bitwarden" lives where they lived
    return new.about.literal and not (new.attribute in OF_ANYTHING and new.about.bare)


def _is_a_year_older(new: Words, old: Words) -> bool:
    figures = _figures(new, old)
    return figures is not None and figures[0] - figures[1] == 1


def _is_near(new: Words, old: Words) -> bool:
    figures = _figures(new, old)
    return figures is not None and abs(figures[0] - figures[1]) <= _MAX_WEIGHT_CHANGE * figures[1]


def _figures(new: Words, old: Words) -> tuple[int, int] | None:
    """Two values as whole numbers; None where one of them is anything else."""
    mine, theirs = (next(iter(value), "") if len(value) == 1 else "" for value in (new, old))
    return (int(mine), int(theirs)) if mine.isdecimal() and theirs.isdecimal() else None


def _ends_attribute(new: Claim, old: Claim) -> bool:
    names = {name for name in (old.attribute, old.also[0] if old.also else None) if name}
    names |= {name.rsplit(".", 1)[-1] for name in names}
    return any(not names.isdisjoint(end.attributes) for end in new.ends)


def _ends_state(new: Claim, old: Claim) -> bool:
    """Return whether a state is over that the statement implies without naming it: who gave birth is pregnant no
    more.
    """
    return any(end.needs == STATE_ENDING and stands_in(end.words, old) for end in new.ends)


def stands_in(words: Words, claim: Claim) -> bool:
    """Return whether a claim holds all of some words; two of a script without spaces stand next to each other in it."""
    if not words or not words <= claim.words | claim.kinds:
        return False
    characters = {word for word in words if not word.isascii()}
    return len(characters) <= 1 or any(characters.issuperset(pair) for pair in claim.about.content)


def _resumes(new: Claim, old: Claim) -> bool:
    """Return whether the statement takes up what the memory says is over."""
    return any(stands_in(end.words, new) for end in old.ends)


def _same_frame(new: Claim, old: Claim) -> bool:
    """Return whether both say the same with another figure."""
    frame = new.words - new.numbers
    return bool(frame) and new.numbers != old.numbers and frame == old.words - old.numbers


def _same_matter(new: Claim, old: Claim) -> bool:
    """Return whether both tell of one matter, a home, work or a kind of thing, and one of them without an attribute."""
    matter = (new.attribute or "").rpartition(".")[2]
    if frozenset((new.attribute, old.attribute)) in SAME_KIND:
        return True
    if (matter == "home" and old.cues.dwells) or (matter in {"school", "gym"} and old.cues.attends):
        return True
    if matter in {"job", "employer"} and old.cues.works:
        return True
    return not {kind for kind, _ in new.cues.rivals}.isdisjoint(kind for kind, _ in old.cues.rivals)


def holds_the_value(new: Claim, old: Claim) -> bool:
    """Return whether a known claim gives the value of the attribute that a new one gives another value of."""
    if new.attribute is None or new.attribute != old.attribute or not new.single:
        return False
    if new.speaker != old.speaker or new.past or old.past or not new.value or not old.value:
        return False
    if new.occasion != old.occasion and (new.attribute in BY_DAY or (new.occasion and old.occasion)):
        return False
    return not (new.negated and not new.settled)


def _names(thing: Words, new: Claim) -> bool:
    """Return whether a statement names the whole thing: of two allergens, the loss of one ends neither."""
    return thing <= new.about.content | new.words | new.pairs | new.object


def _share_a_thing(new: Claim, old: Claim) -> bool:
    mine, theirs = new.about.content | new.object, old.about.content | old.object
    return not mine.isdisjoint(theirs) or _is_of_kind(theirs, new.kinds) or _is_of_kind(mine, old.kinds)


def _is_of_kind(things: Words, kinds: Words) -> bool:
    """Return whether a thing is one of the kinds, which are single characters in a script without spaces."""
    return any(thing in kinds or (not thing.isascii() and set(thing) <= kinds) for thing in things)


def _goes_elsewhere(new: Claim, old: Claim) -> bool:
    """Return whether a planned journey goes to another place, and the statement says that it goes there instead."""
    return (new.corrects or _INSTEAD in new.words) and goes_elsewhere(new, old)


_GROUNDS: Final = (
    _ends_attribute,
    _ends_state,
    _same_matter,
    _share_a_thing,
    _resumes,
    _same_frame,
    _goes_elsewhere,
)
"""What a statement and a memory may have in common so that the one can end the other."""
