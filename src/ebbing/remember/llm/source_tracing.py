"""The message that a statement comes from; a statement that no message holds is invented."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.sentences import sentences
from ebbing.remember.llm.transcript import Piece

_SIGNS: Final = re.compile(r"[\W_]+")
_MIN_QUOTE_CHARS: Final = 2
_MIN_SHARED_TERMS: Final = 0.5
"""More than this part of the terms of a quote, or of a statement without one, must stand in the message."""


def source_of(text: str, quote: str, *, number: int | None, pieces: Sequence[Piece]) -> tuple[int, str] | None:
    """Return the index of the message that says it, and the sentence in it; None where no message does.

    Args:
        text: the statement.
        quote: the words that the model copied; may be empty or inexact.
        number: the message that the model names; may be wrong.
        pieces: what may be a source.
    """
    ordered = sorted(pieces, key=lambda piece: piece.number != number)
    plain = _plain(quote)
    if len(plain) >= _MIN_QUOTE_CHARS:
        for piece in ordered:
            if plain in _plain(piece.text):
                return piece.number, _sentence(piece.text, plain)
    terms = set(query_terms(quote)) or set(query_terms(text))
    best = max(ordered, key=lambda piece: _share(terms, piece.text), default=None)
    if best is None or not terms or _share(terms, best.text) <= _MIN_SHARED_TERMS:
        return None
    return best.number, _sentence(best.text, "", terms=terms)


def _plain(text: str) -> str:
    return _SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())


def _share(terms: set[str], text: str) -> float:
    return len(terms.intersection(query_terms(text))) / max(1, len(terms))


def _sentence(text: str, plain: str, *, terms: set[str] | None = None) -> str:
    """Return the sentence of a text that holds a quote (in plain form) or shares most terms; else the text's
    beginning.
    """
    texts = [sentence.text for sentence in sentences(text)]
    if terms:
        return max(texts, key=lambda candidate: _share(terms, candidate), default=text)[:500]
    return next((candidate for candidate in texts if plain in _plain(candidate)), text)[:500]
