"""The check that a statement replaces a known one although neither gives an attribute.

Three ways in which people say so, whatever the matter is: the same words with another thing in one place ("we deploy on
Mondays now"), a thing that is named and has become another ("switched the laptop to Linux"), an aim that was reached
("the mortgage is paid off"). Each is a guess: it counts where there is only one memory that it can mean
(`remember.reconcile.decide`).
"""

from __future__ import annotations

from typing import Final

from ebbing.domain.conflict.claim import Claim, ValueChange, Words

_MAX_DIFFERENT_WORDS: Final = {True: 4, False: 6}
"""Words, or characters of a script without spaces, in which two statements of one frame may differ."""
_MIN_FRAME_WORDS: Final = 4
"""Words, or characters, in common that tell so much that one thing stands there, also where there may be several."""
_DAY: Final = "time"
_BARE: Final = 3
"""Words beside a thing and its name in a memory that says no more than what it is."""
_OF_WORK: Final = {"employer", "job"}
_ATTENDED: Final = {"school", "gym"}
_MEALS: Final = {"breakfast", "lunch", "dinner", "supper", "早餐", "早饭", "午饭", "午餐", "晚饭", "晚餐", "早上"}
_JOURNEY: Final = ("go", "to")
_TAIL: Final = 2
"""Characters in which two statements must end alike that begin with different ones: 左撇子, 右撇子."""
_DOES: Final = frozenset("上读住做干班工打跑当")
"""Who does another thing in the same place may still do the first."""
SAME_KIND: Final = (frozenset({"job", "position"}), frozenset({"team", "favourite.team"}))
"""Attributes under which one matter is told, once as one and once as the other."""


def replaced(new: Claim, old: Claim) -> bool:
    """Return whether `old` is over if it is what `new` speaks of."""
    if new.further or old.past or old.over or (old.event and not old.cues.aim):
        return False
    if any(_has_become(change, old) for change in new.cues.becomes if _is_of(change, old, subject=new.subject)):
        return True
    return new.subject == old.subject and (
        _in_one_frame(new, old)
        or _is_reached(new, old)
        or _under_another_name(new, old)
        or _is_a_rival(new, old)
        or _has_moved_on(new, old)
        or _is_as_often(new, old)
        or _is_denied(new, old)
    )


def _in_one_frame(new: Claim, old: Claim) -> bool:
    """Return whether both have the same words in the same order, but for one place."""
    if not (new.cues.swapped or new.corrects) or new.negated or new.event or new.past:
        return False
    mine, theirs = new.cues.order, old.cues.order
    start, end = _shared(mine, theirs)
    frame = (*mine[:start], *mine[len(mine) - end :])
    mine, theirs = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    spaced = all(word.isascii() for word in (*frame, *mine, *theirs))
    if not mine or not theirs or max(len(mine), len(theirs)) > _MAX_DIFFERENT_WORDS[spaced]:
        return False
    if _is_right_instead(new, old) or goes_elsewhere(new, old):
        return True
    if new.words.isdisjoint(frame) or TIMES.issuperset(frame):
        return False
    if start == 0 and (spaced or end < _TAIL) and not _is_one_place(frame):
        return False
    sort = sort_of(mine, new.cues.names)
    if sort != sort_of(theirs, old.cues.names) or not _DOES.isdisjoint((*mine, *theirs)):
        return False
    if new.cues.instead in frame or _is_of_several(new, old, sort=sort):
        return new.cues.instead in frame
    if new.cues.many or old.cues.many:
        return _is_one_place(frame) or sort in {_DAY, "figure"} or len(frame) >= _MIN_FRAME_WORDS
    return end > 0 if new.cues.tools else sort != "word" or len(frame) > 1


def _is_of_several(new: Claim, old: Claim, *, sort: str) -> bool:
    """Return whether there may be another such thing, or goal, however alike the statements are, unless it is put
    right.

    A goal with another figure is the same goal: who decides to retire at 65 no longer plans it for 60.
    """
    another = old.cues.aim and sort != "figure"
    return not new.corrects and (new.cues.several or old.cues.several or another)


def _is_right_instead(new: Claim, old: Claim) -> bool:
    """Return whether somebody is put right who is said to be one of a kind: the dog is a setter, and no spaniel."""
    return new.corrects and bool(new.subject) and not new.kinds.isdisjoint(old.kinds)


def goes_elsewhere(new: Claim, old: Claim) -> bool:
    """Return whether a journey that was planned goes to another place: "we are going to Italy instead"."""
    if not old.plan or not (new.cues.swapped or new.corrects):
        return False
    mine, theirs = new.cues.order, old.cues.order
    ahead = len(_JOURNEY)
    if mine[:ahead] != _JOURNEY or theirs[:ahead] != _JOURNEY or mine[ahead : ahead + 1] == theirs[ahead : ahead + 1]:
        return False
    return sort_of(mine[ahead:], new.cues.names) == "name"


def _is_denied(new: Claim, old: Claim) -> bool:
    """Return whether the new one says of what both speak of that it is not as the old one has it."""
    wrong = new.denies
    return bool(wrong) and wrong <= old.words and not new.words.isdisjoint(old.words - wrong)


def _is_one_place(frame: tuple[str, ...]) -> bool:
    """Return whether one thing is had there as a rule: at breakfast, in the morning."""
    phrase = "".join(frame)
    return any(word in TIMES and word.isascii() for word in frame) or any(meal in phrase for meal in _MEALS)


def _shared(new: tuple[str, ...], old: tuple[str, ...]) -> tuple[int, int]:
    """Return how many words two statements begin with, and end with, in common."""
    most = min(len(new), len(old))
    start = next((place for place in range(most) if new[place] != old[place]), most)
    end = next((place for place in range(most - start) if new[-1 - place] != old[-1 - place]), most - start)
    return start, end


def _is_of(change: ValueChange, old: Claim, *, subject: Words) -> bool:
    """Return whether the thing is of whom the memory is about, or the one itself: "we renamed the cat"."""
    return subject == old.subject or (not subject and (old.subject <= change.thing or change.thing <= old.value))


def _has_become(change: ValueChange, old: Claim) -> bool:
    """Return whether a memory tells what the thing was: a time where it has another time now, a name where another
    name.
    """
    old_words = old.words | old.kinds
    if not change.thing <= (old_words | old.pairs) or not change.thing or change.value <= old_words:
        return False
    if change.sort == _DAY:
        return old.timed
    if change.sort == "figure":
        return bool(old.numbers)
    rest = [word for word in old.cues.order if not _names(change.thing, word)]
    named = not old.cues.names.isdisjoint(rest)
    spaced = all(map(str.isascii, (*old.words, *change.value)))
    alike = named == (change.sort == "name") or not spaced
    plain = change.sort == "name" or not old.numbers
    return plain and alike and not old.timed and len(rest) <= 2 * _BARE


def _names(thing: Words, word: str) -> bool:
    return any(word == part or (not part.isascii() and word in part) for part in thing)


def _is_reached(new: Claim, old: Claim) -> bool:
    """Return whether it was aimed at what is reached now."""
    return old.cues.aim and bool(new.cues.reached) and new.cues.reached <= old.words | old.kinds


def _under_another_name(new: Claim, old: Claim) -> bool:
    """Return whether one matter is told as two attributes."""
    both = frozenset({new.attribute, old.attribute})
    return new.changed and not new.over and both in SAME_KIND and not new.value <= old.value


def _is_as_often(new: Claim, old: Claim) -> bool:
    """Return whether one thing is done more or less often now."""
    often, before = new.cues.often, old.cues.often
    if often is None or before is None or not new.cues.swapped or new.negated or often[0] == before[0]:
        return False
    return not often[1].isdisjoint(before[1])


def is_outdone(new: Claim, old: Claim) -> bool:
    """Return whether `old` is over although both share their words: a rival is named, or what was aimed at is
    reached.
    """
    return new.subject == old.subject and (_is_a_rival(new, old) or _is_reached(new, old))


def _is_a_rival(new: Claim, old: Claim) -> bool:
    """Return whether somebody uses one thing of a kind now, and used another one."""
    if not new.cues.swaps or new.negated or new.event or new.polarity or old.polarity:
        return False
    if _OF_WORK & {new.attribute, old.attribute}:
        return False
    mine, theirs = dict(new.cues.rivals), dict(old.cues.rivals)
    if len(mine) != len(new.cues.rivals) or len(theirs) != len(old.cues.rivals):
        return False
    return any(kind in theirs and theirs[kind] != name for kind, name in mine.items())


def _has_moved_on(new: Claim, old: Claim) -> bool:
    """Return whether somebody lives or works elsewhere than a memory says that gives no attribute."""
    if not new.changed or new.over or old.attribute or old.timed or new.value <= old.words:
        return False
    matter = (new.attribute or "").rpartition(".")[2]
    if matter in _ATTENDED:
        return old.cues.attends
    return old.cues.dwells if matter == "home" else old.cues.works and not old.numbers and matter in _OF_WORK


def sort_of(words: tuple[str, ...], names: Words) -> str:
    """Return what some words of a statement name: `time`, `figure`, `name` or `word`."""
    if any(word in TIMES for word in words):
        return _DAY
    if any(word[:1].isdigit() for word in words):
        return "figure"
    return "name" if not names.isdisjoint(words) else "word"


TIMES: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday weekday weekend morning afternoon evening noon midnight "
    "januari februari march april may june juli august septemb octob novemb decemb tomorrow spring summer autumn "
    "winter 周 月 号 日 点 晚 早 上午 下午".split()
)
"""Stems, and characters, that name a time."""
