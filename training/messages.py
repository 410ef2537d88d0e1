"""Labelled messages of talks: which of them are worth remembering in their speaker's words, and what about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ebbing.ports.models.salience import KINDS
from evals.extraction import LANGUAGES, items
from training.parse import DATA, Turn, read_messages, read_talks

OPEN_ROUNDS = frozenset({"en-a", "en-b", "zh-a", "zh-b"})
"""Rounds of the extraction sets of which nothing is held back."""
_KINDS_OF_TYPES = {
    "fact": "fact",
    "episodic": "event",
    "preference": "preference",
    "constraint": "constraint",
    "procedural": "instruction",
}


@dataclass(frozen=True)
class Labelled:
    """A message with what is right."""

    text: str
    speaker: str
    language: str
    author: str
    kind: str | None
    """One of `KINDS` where it is worth remembering, else None."""
    before: str = ""
    """What was said before it, with its speaker; empty for the first message of a talk."""
    in_talk: bool = True
    """Whether it is part of a talk, and not written to be seen by itself."""


def messages() -> list[Labelled]:
    """Return the labelled messages of all talks, in a fixed order."""
    return [*_of_talks(), *_of_labelled_talks()]


def spoken(turn: Turn) -> str:
    """Return a turn with its speaker."""
    return f"{turn.speaker}: {turn.text}"


def _kind_of(types: str | list[str]) -> str:
    """Return the kind that the first allowed type of an expected fact means."""
    return _KINDS_OF_TYPES[types if isinstance(types, str) else types[0]]


def stored(text: str, speaker: str) -> str:
    """Return a message as it is embedded (`ebbing.index.index_entry.passage`): with its speaker, where it has one."""
    return f"{speaker}: {text}" if speaker else text


def _of_talks() -> Iterator[Labelled]:
    """Yield the messages of talks whose memories were written down; a message that only helps with one is left out."""
    for path in sorted((DATA / "talks").glob("*.txt")):
        for talk in read_talks(path):
            kinds = {memory.turns[-1]: memory.type for memory in talk.good.values()}
            helping = {place for memory in talk.good.values() for place in memory.turns} - kinds.keys()
            for place, turn in enumerate(talk.turns if talk.good else ()):
                if turn.speaker != "assistant" and place not in helping:
                    before = spoken(talk.turns[place - 1]) if place else ""
                    yield Labelled(turn.text, turn.speaker, talk.language, path.stem, kinds.get(place), before)


def _of_labelled_talks() -> Iterator[Labelled]:
    for path in sorted((DATA / "messages").glob("*.txt")):
        for talk in read_messages(path):
            for place, (turn, label) in enumerate(zip(talk.turns, talk.labels, strict=True)):
                if turn.speaker != "assistant":
                    kind = label if label in KINDS else None
                    before = spoken(talk.turns[place - 1]) if place else ""
                    yield Labelled(turn.text, turn.speaker, talk.language, path.stem, kind, before)


def single_messages() -> Iterator[Labelled]:
    """Yield messages that were written to be seen by themselves, and clauses of such messages."""
    for path in sorted((DATA / "single").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            message = json.loads(line)
            kind = message["kind"] or None
            yield Labelled(message["text"], message["speaker"], message["lang"], path.stem, kind, in_talk=False)
    yield from _of_extraction_sets()


def answers() -> list[Labelled]:
    """Return short answers, each behind the question of the assistant that it answers."""
    labelled: list[Labelled] = []
    for path in sorted((DATA / "answers").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            pair = json.loads(line)
            text = f"{pair['question']} {pair['answer']}"
            labelled.append(Labelled(text, "", pair["lang"], path.stem, pair["kind"] or None))
    return labelled


def wishes() -> list[Labelled]:
    """Return messages that say how to answer, and such as look like it.

    Each is of a talk; one without a speaker is there a second time, by itself.
    """
    labelled: list[Labelled] = []
    for path in sorted((DATA / "wishes").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            wish = json.loads(line)
            text, speaker, kind = wish["text"], wish["speaker"], wish["kind"] or None
            for in_talk in (True,) if speaker else (True, False):
                author = f"wish_{path.stem}"
                labelled.append(Labelled(text, speaker, wish["lang"], author, kind, in_talk=in_talk))
    return labelled


def _of_extraction_sets() -> Iterator[Labelled]:
    """Yield the messages of those authors of the extraction sets who hold nothing back (`evals.extraction`)."""
    for language in LANGUAGES:
        for part, item in items("extraction", language):
            author = item["id"].rpartition("-")[0]
            is_open = part == "tuning" or author in OPEN_ROUNDS
            if not is_open or len(item["messages"]) > 1:
                continue
            kind = _kind_of(item["facts"][0]["type"]) if item["facts"] else None
            yield Labelled(item["messages"][0]["content"], "", language, author, kind, in_talk=False)
