"""The part of a long message that speaks to the question, where all of it has no room."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.pieces import pieces

_MARK: Final = "… "


def excerpt(text: str, terms: Collection[str], *, max_chars: int) -> str:
    """Return the sentences in a row that hold most of the terms and fit `max_chars`; the whole text where it fits.

    Between rows of sentences with as many terms the first counts, so that a text without any keeps its beginning.
    """
    if len(text) <= max_chars or not terms:
        return text
    parts = pieces(text[: 20 * max_chars])
    terms_of = [set(terms).intersection(query_terms(part)) for part in parts]
    best, best_first = 0, 0
    for first, part in enumerate(parts):
        room, covered = max_chars - (len(_MARK) if first else 0) - len(part), set(terms_of[first])
        for place in range(first + 1, len(parts)):
            room -= len(parts[place])
            if room < 0:
                break
            covered |= terms_of[place]
        if len(covered) > best:
            best, best_first = len(covered), first
    return (_MARK if best_first else "") + "".join(parts[best_first:])
