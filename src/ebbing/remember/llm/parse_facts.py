"""The parser of a model's answer. Each item is checked by itself, so that a bad item loses no other."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import MemoryType
from ebbing.language.dates.resolve import BEGINNING, FOREVER, resolve
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.remember.llm.source_tracing import source_of
from ebbing.remember.llm.transcript import Piece

MAX_FACTS: Final = 64
"""Facts taken from one answer."""
_MAX_FACT_CHARS: Final = 600
"""Characters of a fact; what is longer is no single fact."""
_SURE, _UNSURE = 0.85, 0.6
"""Confidence of what the speaker was sure of, and was not: within the 0.5 to 0.9 of what a model concludes."""
_QUESTION: Final = re.compile(r"[?？]\s*$")
_ATTRIBUTE: Final = re.compile(r"[a-z]+(?:_[a-z]+)*(?:\.[\w -]{1,40})?")
_CATEGORY_OF_TYPE: Final = {
    MemoryType.PREFERENCE: "preference",
    MemoryType.CONSTRAINT: "constraint",
    MemoryType.PROCEDURAL: "procedure",
    MemoryType.EPISODIC: "event",
}


@dataclass(frozen=True, slots=True)
class SourceReading:
    """From what and how an answer is read."""

    pieces: Sequence[Piece]
    """What facts may come from."""
    rule: str
    """Model and version of the prompt, kept with each fact."""
    now: datetime
    about: str = "user"
    traced: bool = True
    """A statement that no message says is dropped; else it is the last message's, and claims no evidence."""


def facts_in(items: Any, reading: SourceReading) -> list[Fact]:
    """Return the facts of an answer, in order, each once a message.

    Entries that are none or come from nowhere are left out.

    Entries are objects as in `forms.FACTS`, or plain sentences.
    """
    facts: dict[tuple[int, str], Fact] = {}
    for item in items if isinstance(items, list) else ():
        fact = _fact(item, reading)
        if fact is not None and len(facts) < MAX_FACTS:
            facts.setdefault((fact.source, fact.text.casefold()), fact)
    return list(facts.values())


def summary_in(value: Mapping[str, Any], reading: SourceReading) -> list[Fact]:
    """Return the one fact of an answer as in `forms.SUMMARY`, or none. It is taken for the last message's."""
    text = one_line(value.get("summary"), _MAX_FACT_CHARS)
    if text is None or value.get("should_remember") is not True or not reading.pieces:
        return []
    category = _category(value.get("category"))
    last = reading.pieces[-1]
    source = source_of(text, "", number=last.number, pieces=reading.pieces) or (last.number, None)
    polarity = int(category.get("polarity", 0))
    return [
        Fact(
            text=text,
            type=MemoryType(category["type"]),
            tags=_tags(category),
            importance=float(category["importance"]),
            confidence=clamped(value.get("confidence"), 0.5, most=0.9, otherwise=_UNSURE),
            source=source[0],
            source_text=source[1],
            rule=reading.rule,
            method="llm",
            about=reading.about,
            polarity=polarity,
        )
    ]


def _category(name: object) -> Mapping[str, Any]:
    """Type, tags, importance and polarity of a category, or of the category that a type's name stands for."""
    categories = _categories()
    requested = str(name).strip().lower()
    try:
        requested = requested if requested in categories else _CATEGORY_OF_TYPE.get(MemoryType(requested), "fact")
    except ValueError:
        requested = "fact"
    return categories[requested]


def one_line(value: object, longest: int) -> str | None:
    """Return the text on one line, or None if it is no text, blank, or too long."""
    text = " ".join(clean_text(value).split()) if isinstance(value, str) else ""
    return text if 0 < len(text) <= longest else None


def clamped(value: object, least: float, *, most: float, otherwise: float) -> float:
    """Return the number, moved into the range; `otherwise` for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    if isinstance(value, float) and math.isnan(value):
        return otherwise
    return float(min(max(value, least), most))


def _fact(item: Any, reading: SourceReading) -> Fact | None:
    entry = {"text": item} if isinstance(item, str) else item
    if not isinstance(entry, Mapping):
        return None
    text = one_line(_first(entry, ("text", "fact", "content", "memory")), _MAX_FACT_CHARS)
    if text is None or _QUESTION.search(text):
        return None
    source = _source(text, entry, reading=reading)
    if source is None:
        return None
    category = _category(entry.get("category", entry.get("type", "fact")))
    polarity = int(category.get("polarity", 0))
    sure = entry.get("sure") is not False
    attribute, value = _attribute(entry)
    starts, ends = _dates(text, reading, number=source[0])
    return Fact(
        text=text,
        type=MemoryType(category["type"]),
        tags=_tags(category),
        importance=float(category["importance"]),
        confidence=clamped(entry.get("confidence"), 0.5, most=0.9, otherwise=_SURE if sure else _UNSURE),
        source=source[0],
        source_text=source[1],
        rule=reading.rule,
        method="llm",
        attribute=attribute,
        value=value,
        about=reading.about,
        polarity=polarity,
        object=value if polarity else None,
        hedged=not sure,
        happens_from=starts,
        happens_to=ends,
    )


def _tags(category: Mapping[str, Any]) -> tuple[str, ...]:
    return (*category["tags"], *(("dislike",) if int(category.get("polarity", 0)) < 0 else ()))


def _first(entry: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((entry[name] for name in names if isinstance(entry.get(name), str)), None)


def _source(text: str, entry: Mapping[str, Any], *, reading: SourceReading) -> tuple[int, str | None] | None:
    number = entry.get("message")
    number = number if isinstance(number, int) and not isinstance(number, bool) else None
    quote = entry.get("quote")
    source = source_of(text, quote if isinstance(quote, str) else "", number=number, pieces=reading.pieces)
    if source is None and not reading.traced and reading.pieces:
        return reading.pieces[-1].number, None
    return source


def _attribute(entry: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the attribute and its value; an attribute without a value is none."""
    value = one_line(entry.get("value"), 200)
    name = one_line(entry.get("attribute"), 60)
    named = name is not None and value is not None and _ATTRIBUTE.fullmatch(name) is not None
    return (name if named else None), value


def _dates(text: str, reading: SourceReading, *, number: int) -> tuple[datetime | None, datetime | None]:
    """From when to when it happens, if the text names one date in full."""
    moment = next((piece.message.timestamp for piece in reading.pieces if piece.number == number), None)
    try:
        spans = [span for span in resolve(text, now=moment or reading.now) if span.explicit]
    except InvalidInputError:  # a message from another age
        return None, None
    if len(spans) != 1 or spans[0].start == BEGINNING or spans[0].end == FOREVER:
        return None, None
    return spans[0].start, spans[0].end


@lru_cache(maxsize=1)
def _categories() -> Mapping[str, Mapping[str, Any]]:
    data = tomllib.loads((files("ebbing.language") / "packs" / "categories.toml").read_text("utf-8"))
    categories: Mapping[str, Mapping[str, Any]] = data["category"]
    return categories
