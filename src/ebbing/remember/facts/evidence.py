"""Evidence is literal: the words that a memory rests on stand in a stored message, letter by letter.

Readers of language work on a plain form of a message: full-width signs made plain, quotations and emoji blanked, lines
joined. What they name as evidence is looked up in the message here, and the span of the message takes its place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.language.text.caches import text_cache
from ebbing.language.text.sentences import QUOTED, split_text
from ebbing.remember.intake.screening import ScreenedMessage

_MAX_EXTRA_CHARS: Final = 600
"""Characters that blanked quotations, emoji and left-out lines may take within the evidence."""
_MAX_STARTS: Final = 16
"""Places of its first word at which the evidence is looked for."""
_CLOSING_SIGNS: Final = ".!?。！？…~～\"'”’」』)）"
"""Signs after the last word that belong to the evidence."""


def with_literal_evidence(facts: Iterable[Fact], messages: Sequence[ScreenedMessage]) -> list[Fact]:
    """Return the facts whose evidence stands in their message, each with that literal span; the others are left out.

    A fact that claims no evidence passes: it was set by hand, or a custom prompt traces nothing.
    """
    grounded: list[Fact] = []
    for fact in facts:
        if fact.source_text is None:
            grounded.append(fact)
            continue
        span = literal_span(fact.source_text, messages[fact.source].message.content)
        if span is not None:
            grounded.append(fact if span == fact.source_text else replace(fact, source_text=span))
    return grounded


def literal_span(evidence: str | None, message: str) -> str | None:
    """Return the span of a message that holds the evidence; None where no stored part of the message does.

    Spaces, punctuation, width and case may differ, and blanked stretches may stand between its pieces.
    """
    if not evidence:
        return None
    for part in split_text(message):
        if evidence in part:
            return evidence
        span = _span(evidence, part)
        if span is not None:
            return span
    return None


def _span(evidence: str, part: str) -> str | None:
    plain, places = _plain(part)
    pieces = [piece for chunk in evidence.split(QUOTED) if (piece := _plain(chunk)[0])]
    whole = "".join(pieces)
    if not whole:
        return None
    start = plain.find(whole)
    if start >= 0:
        return _cut(part, places[start], last=places[start + len(whole) - 1])
    words = [word for chunk in evidence.replace(QUOTED, " ").split() if (word := _plain(chunk)[0])]
    first = -1
    for _ in range(_MAX_STARTS):
        first = plain.find(words[0], first + 1)
        last = _end_of(words, plain, start=first) if first >= 0 else None
        if last is None:
            return None
        if last - first <= len(whole) + _MAX_EXTRA_CHARS:
            return _cut(part, places[first], last=places[last - 1])
    return None


def _end_of(words: Sequence[str], plain: str, *, start: int) -> int | None:
    """Return where the last of the words ends, each found after the one before; None where one is missing."""
    position = start
    for word in words:
        place = plain.find(word, position)
        if place < 0:
            return None
        position = place + len(word)
    return position


def _cut(part: str, first: int, *, last: int) -> str:
    end = last + 1
    while end < len(part) and part[end] in _CLOSING_SIGNS:
        end += 1
    return part[first:end]


@text_cache(8)
def _plain(text: str) -> tuple[str, Sequence[int]]:
    """Return the letters and digits of a text in plain form, and the place of each in the text."""
    plain: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for letter in unicodedata.normalize("NFKC", sign).casefold():
            if letter.isalnum():
                plain.append(letter)
                places.append(place)
    return "".join(plain), places
