"""A statement about a person in a form in which it can be compared with another (`language.claims.claims` reads it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ebbing.domain.memory.record import MemoryType

Words = frozenset[str]
"""Content words, stemmed, or single characters of a script without spaces."""


STATE_ENDING: Final = "state"
"""What an end needs where it names something else than the statement does: who gave birth is pregnant no more."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Something that is over: the memories that say it still is are closed."""

    words: Words = frozenset()
    """What is over; a memory must hold all of them. Empty: any memory of the attributes."""
    attributes: tuple[str, ...] = ()
    """The single-valued attributes whose value it was."""
    besides: Words = frozenset()
    """What stands before "quit" or "left" beside the person; a memory must hold all of it."""
    within: Words = frozenset()
    """Where not empty, a memory must also hold one of these: "graduated from X" ends studying there, not working."""
    ongoing: bool = False
    """A memory must tell of something that goes on: "finished the book" ends reading it, not liking it."""
    object: Words = frozenset()
    """Head of what is over: what was liked or avoided, whatever else was said about it."""
    planned: bool = False
    """A memory must tell of a plan: a meeting that was moved is still going to be, at another time."""
    topics: Words = frozenset()
    """Pairs of adjacent characters of what took a turn; a memory must hold one of them."""
    needs: str = ""
    """What a memory must tell beside: `time`, `amount`, `plan`, `ban`, or nothing (`STATE`); a figure replaces one."""
    own: bool = False
    """It is over for the person, whoever the statement is about: "our baby was born"."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Something that has another value now, whatever it is: "the laptop was switched to Linux"."""

    thing: Words
    """What; a memory of it holds all of these."""
    value: Words
    sort: str
    """What the value is: `time`, `figure`, `name` or `word`."""


@dataclass(frozen=True, slots=True)
class ReplacementCues:
    """What of a statement tells whether something is otherwise now, where no attribute does (`replacement`)."""

    order: tuple[str, ...] = ()
    """Its words, or single characters of a script without spaces, as they follow each other; without whom it is about
    and what only says that it is new."""
    names: Words = frozenset()
    """Those of its words that are names: written with a capital, or in Latin letters among Chinese."""
    swapped: bool = False
    """It says that something is so now and was otherwise before ("now", "instead", 改成)."""
    swaps: bool = False
    """It says in any way that something took the place of another."""
    many: bool = False
    """What it tells may be so of several things at a time: having, liking, learning, knowing."""
    several: bool = False
    """It tells of one of several things as a rule, however much more it says: an allergy, a medicine, a friend."""
    instead: str = ""
    """What is done with another thing now, in Chinese: 学 where somebody 改学."""
    often: tuple[str, Words] | None = None
    """How often something is done, and the words beside it."""
    tools: bool = False
    """It tells what somebody uses; for one purpose that is one thing as a rule."""
    becomes: tuple[ValueChange, ...] = ()
    rivals: frozenset[tuple[str, str]] = frozenset()
    """Kind and name of the things in it of which somebody uses one at a time: a bank, an editor."""
    seeks: Words = frozenset()
    """Keyword terms of memories that it may mean although they share no word with it."""
    dwells: bool = False
    """It tells where somebody lives."""
    works: bool = False
    """It tells what somebody does for a living."""
    attends: bool = False
    """It tells only by name where somebody goes: "goes to UCLA"."""
    aim: bool = False
    """It tells of what somebody works towards, waits for or owes."""
    reached: Words = frozenset()
    """Of what it says that it was reached, finished or paid."""


@dataclass(frozen=True, slots=True)
class About:
    """Whom and what a statement is about, as far as its sentence says so (`domain.conflict.closing`)."""

    named: bool = True
    """The sentence says itself whom the statement is about."""
    literal: bool = True
    """Its verb stands in the sentence, too: none was put before "vet switched the dose"."""
    bare: bool = False
    """The statement is a value and nothing else."""
    foreign: bool = False
    """It tells of other people or their things, whoever they are: "the other team", 他们公司."""
    joint: bool = False
    """It tells of the person and of others at once: "User and their cousin are vegan"."""
    family: bool = False
    """It tells of children, a partner or pets."""
    content: Words = frozenset()
    """Words that tell what it is about: neither verbs that say little, nor times; in Chinese pairs of characters."""
    safety: Words = frozenset()
    """What it warns of, where it tells of health, diet or safety: the allergen, the medicine, the illness."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement, ready to be compared."""

    words: Words
    type: MemoryType = MemoryType.FACT
    subject: Words = frozenset()
    """Whom or what it is about, where that is not the user or agent alone ("sister")."""
    called: Words = frozenset()
    """The name of whom it is about, where that is somebody else."""
    speaker: str = "user"
    """Whose world it tells of: the user's or the agent's, and by name in a conversation of several."""
    attribute: str | None = None
    value: Words = frozenset()
    settled: bool = False
    """The value says all, also where the words deny something: who has no partner is single."""
    also: tuple[str, Words] | None = None
    """Another attribute with its value that it gives by the way: "an engineer at Acme" names the employer."""
    object: Words = frozenset()
    """Head of what is liked or disliked."""
    adjunct: Words = frozenset()
    """When, where and with whom it is liked."""
    polarity: int = 0
    numbers: Words = frozenset()
    occasion: Words = frozenset()
    """Days and seasons that it is limited to."""
    negated: bool = False
    past: bool = False
    plan: bool = False
    gained: bool = False
    """An event that left something behind: bought, adopted."""
    changed: bool = False
    """It says of itself that it is new, or puts something right."""
    lasting: bool = False
    """It goes on, also where its type is an event's."""
    kinds: Words = frozenset()
    """What its words are kinds of: "pet" for a cat."""
    further: bool = False
    """It says of itself that it comes on top ("also")."""
    resumed: bool = False
    """It says of itself that something is so again."""
    pairs: Words = frozenset()
    """Pairs of adjacent characters, of a script without spaces."""
    timed: bool = False
    """It says when."""
    summed: bool = False
    """It says how much."""
    once: bool = False
    """It tells of this week, this time: what is usual goes on."""
    usual: bool = False
    is_wish: bool = False
    """It tells of what somebody looks for, and has not found yet."""
    single: bool = True
    """The attribute has one value at a time, whoever says it; else only a claim that is `changed` replaces it."""
    corrects: bool = False
    """It puts something right that was said wrongly."""
    denies: Words = frozenset()
    """What it says beside is not so: "Swiss, not from Sweden"."""
    about: About = field(default_factory=About)
    ends: tuple[Ending, ...] = ()
    cues: ReplacementCues = field(default_factory=ReplacementCues)

    @property
    def over(self) -> bool:
        """It says that something is not so, or not so any more."""
        return self.negated or any(not end.within for end in self.ends)

    @property
    def event(self) -> bool:
        """It tells of one occasion, which stays true."""
        return self.type is MemoryType.EPISODIC and not self.plan and not self.lasting
