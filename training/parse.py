"""Parsers of the labelled texts in `training/data`. The format of each kind is in `training/README.md`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).parent / "data"
KINDS = ("fact", "preference", "plan", "event", "relation", "health", "constraint", "habit", "instruction")
OWNERS = ("self", "relation", "agent", "other")
FAULTS = (
    "wrong_person",
    "opposite",
    "invented",
    "fragment",
    "question",
    "request",
    "hypothetical",
    "quotation",
    "roleplay",
    "sarcasm",
    "passing",
    "general",
    "other",
    "smalltalk",
    "uncertain",
    "withdrawn",
    "assistant",
)
HARMFUL = "harmful"
"""Label of a message that would mislead if it were believed as it stands."""
RELATIONS = ("same", "richer", "replaces", "apart")
_MESSAGE = re.compile(r"(\d+)\s*\[([^\]]+)\]\s*(.+)")
_PAIR = re.compile(r"=\s*(\w+)\s*>\s*(\w+)\s+(\w+)$")
HOWS = ("changed", "done", "dropped", "part")
_CHANGE = re.compile(r"=(\d+)>(\d+) (\w+) (clear|context)|~(\d+)>(\d+)")
_LEANING = re.compile(r"\?\s*([\d,]+)\s*@\s*(.+?)\s*::\s*(.+)")
_DATED = re.compile(r"(\w+)\s*\[(\d{4}-\d\d-\d\d)\]\s*(.+)")


class LabelError(ValueError):
    """A line of the data is not in its format."""


@dataclass(frozen=True)
class Turn:
    """One message of a talk."""

    speaker: str
    text: str


@dataclass(frozen=True)
class GoodMemory:
    """A memory that is worth keeping."""

    turns: tuple[int, ...]
    """Places of the messages that it rests on; the last one says it."""
    type: str
    owner: str
    text: str


@dataclass(frozen=True)
class WrongMemory:
    """A tempting memory that must not be kept."""

    turns: tuple[int, ...]
    fault: str
    text: str


@dataclass
class Talk:
    """A conversation with its labels."""

    id: str
    language: str
    turns: list[Turn] = field(default_factory=list)
    good: dict[str, GoodMemory] = field(default_factory=dict)
    wrong: list[WrongMemory] = field(default_factory=list)
    pairs: list[tuple[str, str, str]] = field(default_factory=list)
    """Letter of the older memory, letter of the newer one, relation."""
    questions: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    """Letters of the memories that answer (none: it cannot be answered), question."""


@dataclass
class LabelledTalk:
    """A conversation each of whose messages has a label."""

    id: str
    language: str
    turns: list[Turn] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """Of each message: one of `KINDS` where it is worth remembering, `harmful` where it would mislead, else empty."""
    questions: list[tuple[tuple[int, ...], str]] = field(default_factory=list)
    """Places of the messages that answer (none: it cannot be answered), question."""


@dataclass(frozen=True)
class LeaningQuestion:
    """A question that hardly says what it is about, at the end of a later conversation."""

    places: tuple[int, ...]
    """Of the messages of the talk that answer it."""
    before: tuple[str, ...]
    """What is said right before it: a turn of the one who asks, and a reply or none."""
    text: str


@dataclass(frozen=True)
class Change:
    """Whether a message ends what an earlier one told."""

    how: str | None
    """One of `HOWS`; None where it looks like an end and is none."""
    is_clear: bool = True
    """The two messages alone show it."""


@dataclass(frozen=True)
class JudgedMemory:
    """A memory that the rules made of a talk, with a reader's judgement of it."""

    turn: int
    label: str
    """`good:KIND:OWNER`, or a fault."""
    text: str

    def labels(self) -> dict[str, int]:
        """Return the numbers that an example holds.

        Raises:
            LabelError: the label names no kind, owner or fault.
        """
        try:
            if self.label.startswith("good"):
                _, kind, owner = self.label.split(":")
                return {"label": 1, "kind": KINDS.index(kind), "owner": OWNERS.index(owner)}
            return {"label": 0, "fault": FAULTS.index(self.label)}
        except ValueError as error:
            raise LabelError(f"no such label: {self.label}") from error


@dataclass
class NewStatement:
    """A message with what was known before it."""

    id: str
    text: str
    known: list[tuple[str, str]] = field(default_factory=list)
    """Relation, known memory."""


@dataclass
class Person:
    """Memories of one person and questions about them."""

    id: str
    language: str
    memories: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    questions: list[tuple[tuple[str, ...], str, str]] = field(default_factory=list)
    """Letters of the memories that answer, the turn before the question, the question."""


def read_talks(path: Path) -> list[Talk]:
    """Return the talks of a file.

    Raises:
        LabelError: a line is not in the format; the message names file and line.
    """
    talks: list[Talk] = []
    for place, line in _lines(path):
        try:
            if line.startswith("=="):
                name, language, *_ = (part.strip() for part in line[2:].split("|"))
                talks.append(Talk(name, language))
            else:
                _read_talk_line(talks[-1], line)
        except (ValueError, IndexError, KeyError) as error:
            raise LabelError(f"{path.name}:{place}: {error!r}") from error
    return talks


def _read_talk_line(talk: Talk, line: str) -> None:
    if line[0].isdigit():
        match = _MESSAGE.match(line)
        if match is None or int(match[1]) != len(talk.turns) + 1:
            raise LabelError("a message has the wrong number or form")
        talk.turns.append(Turn(match[2].strip(), match[3].strip()))
    elif line[0] == "=":
        match = _PAIR.match(line)
        if match is None or match[3] not in RELATIONS or not {match[1], match[2]} <= talk.good.keys():
            raise LabelError("a pair names no memory or no relation")
        talk.pairs.append((match[1], match[2], match[3]))
    else:
        head, text = line[1:].split("::", 1)
        if line[0] == "?":
            talk.questions.append((_letters(head, talk.good), text.strip()))
        elif line[0] == "+":
            letter, places, kind, owner = head.split()
            if kind not in KINDS or owner not in OWNERS:
                raise LabelError("a good memory has an unknown type or owner")
            talk.good[letter] = GoodMemory(_places(places, talk), kind, owner, text.strip())
        elif line[0] == "-":
            _, places, fault = head.split()
            if fault not in FAULTS:
                raise LabelError("a wrong memory has an unknown fault")
            talk.wrong.append(WrongMemory(_places(places, talk), fault, text.strip()))
        else:
            raise LabelError("the line begins with no known sign")


def read_messages(path: Path) -> list[LabelledTalk]:
    """Return the talks of a file whose messages are labelled one by one, with the questions about them.

    Raises:
        LabelError: a line is not in the format; the message names file and line.
    """
    talks: list[LabelledTalk] = []
    for place, line in _lines(path):
        try:
            if line.startswith("=="):
                name, language, *_ = (part.strip() for part in line[2:].split("|"))
                talks.append(LabelledTalk(name, language))
            elif line[0] == "?":
                head, question = line[1:].split("::", 1)
                places = () if head.strip() == "none" else _places(head, talks[-1])
                talks[-1].questions.append((places, question.strip()))
            else:
                _read_labelled_message(talks[-1], line)
        except (ValueError, IndexError) as error:
            raise LabelError(f"{path.name}:{place}: {error!r}") from error
    return talks


def _read_labelled_message(talk: LabelledTalk, line: str) -> None:
    head, mark, label = line.rpartition(" ## ")
    match = _MESSAGE.match(head if mark else line)
    if match is None or int(match[1]) != len(talk.turns) + 1:
        raise LabelError("a message has the wrong number or form")
    if mark and label.strip() not in {*KINDS, HARMFUL}:
        raise LabelError(f"there is no label {label.strip()!r}")
    talk.turns.append(Turn(match[2].strip(), match[3].strip()))
    talk.labels.append(label.strip() if mark else "")


def read_statements(path: Path) -> list[NewStatement]:
    """Return the new statements of a file, each with known memories and their relations.

    Raises:
        LabelError: a line is not in the format.
    """
    statements: list[NewStatement] = []
    for place, line in _lines(path):
        if line.startswith("##"):
            name, text = line[2:].split("|", 1)
            statements.append(NewStatement(name.strip(), text.strip()))
            continue
        relation, _, known = line.partition("::")
        if relation.strip() not in RELATIONS or not known.strip() or not statements:
            raise LabelError(f"{path.name}:{place}: a pair has no known relation")
        statements[-1].known.append((relation.strip(), known.strip()))
    return statements


def read_people(path: Path) -> list[Person]:
    """Return the people of a file, each with memories and questions.

    Raises:
        LabelError: a line is not in the format.
    """
    people: list[Person] = []
    for place, line in _lines(path):
        try:
            if line.startswith("=="):
                name, language, *_ = (part.strip() for part in line[2:].split("|"))
                people.append(Person(name, language))
            elif line[0] == "?":
                head, question = line[1:].split("::", 1)
                letters, _, before = head.partition("@")
                person = people[-1]
                person.questions.append((_letters(letters, person.memories), before.strip(), question.strip()))
            else:
                match = _DATED.match(line)
                if match is None:
                    raise LabelError("a memory has no letter, date and text")
                people[-1].memories[match[1]] = match[3]
                people[-1].dates[match[1]] = match[2]
        except (ValueError, IndexError, KeyError) as error:
            raise LabelError(f"{path.name}:{place}: {error!r}") from error
    return people


def read_leaning(path: Path, talks: Mapping[str, LabelledTalk]) -> dict[str, list[LeaningQuestion]]:
    """Return the leaning questions of a file by talk; none where there is no file.

    Args:
        talks: the talks that they are about, by id.

    Raises:
        LabelError: a line is not in the format, or names no message of a person.
    """
    questions: dict[str, list[LeaningQuestion]] = {}

    def read_line(talk: LabelledTalk, line: str) -> None:
        match = _LEANING.fullmatch(line)
        if match is None:
            raise LabelError("a leaning question has the wrong form")
        places = _places(match[1], talk)
        if any(talk.turns[answer].speaker == "assistant" for answer in places):
            raise LabelError("the assistant answers nothing")
        before = tuple(turn.strip() for turn in match[2].split(" | "))
        questions.setdefault(talk.id, []).append(LeaningQuestion(places, before, match[3]))

    _read_beside(path, talks, read_line)
    return questions


def read_changes(path: Path, talks: Mapping[str, LabelledTalk]) -> dict[str, dict[tuple[int, int], Change]]:
    """Return the labelled pairs of places, the earlier first, by talk; none where there is no file.

    Args:
        talks: the talks of the same author, by id.

    Raises:
        LabelError: a line is not in the format, or ends a message that is not worth remembering.
    """
    changes: dict[str, dict[tuple[int, int], Change]] = {}

    def read_line(talk: LabelledTalk, line: str) -> None:
        match = _CHANGE.fullmatch(line)
        if match is None or match[3] not in {*HOWS, None}:
            raise LabelError("a change has the wrong form")
        earlier, later = _places(match[1] or match[5], talk)[0], _places(match[2] or match[6], talk)[0]
        if not earlier < later or talk.labels[earlier] not in KINDS or talk.turns[later].speaker == "assistant":
            raise LabelError("a person ends nothing here that is worth remembering")
        changes.setdefault(talk.id, {})[earlier, later] = Change(match[3], match[4] != "context")

    _read_beside(path, talks, read_line)
    return changes


def _read_beside(path: Path, talks: Mapping[str, LabelledTalk], read_line: Callable[[LabelledTalk, str], None]) -> None:
    """Read the lines of a file that stands beside talks: `== ID`, then what is labelled of that talk."""
    talk: LabelledTalk | None = None
    for place, line in _lines(path) if path.exists() else ():
        try:
            if line.startswith("=="):
                talk = talks[line[2:].strip()]
            elif talk is None:
                raise LabelError("a line stands before the first talk")
            else:
                read_line(talk, line)
        except (ValueError, KeyError) as error:
            raise LabelError(f"{path.name}:{place}: {error!r}") from error


def read_verdicts(path: Path) -> dict[str, list[JudgedMemory]]:
    """Return the judged memories of a file by talk; none where there is no file.

    Raises:
        LabelError: a line is not in the format.
    """
    found: dict[str, list[JudgedMemory]] = {}
    for place, line in _lines(path) if path.exists() else ():
        try:
            talk, turn, label, text = line.split("|", 3)
            found.setdefault(talk, []).append(JudgedMemory(int(turn) - 1, label.strip(), text.strip()))
        except ValueError as error:
            raise LabelError(f"{path.name}:{place}: {error!r}") from error
    return found


def _lines(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [(place, line.strip()) for place, line in lines if line.strip()]


def _letters(head: str, known: dict[str, object] | dict[str, GoodMemory] | dict[str, str]) -> tuple[str, ...]:
    if head.strip() == "none":
        return ()
    letters = tuple(letter.strip() for letter in head.split(","))
    if not set(letters) <= known.keys():
        raise LabelError(f"no memory has one of the letters {letters}")
    return letters


def _places(numbers: str, talk: Talk | LabelledTalk) -> tuple[int, ...]:
    places = tuple(int(number) - 1 for number in numbers.split(",") if number)
    if not places or not all(0 <= place < len(talk.turns) for place in places):
        raise LabelError("a memory rests on no message of the talk")
    return places
