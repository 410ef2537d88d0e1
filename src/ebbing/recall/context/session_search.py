"""The running conversation: its last rounds, and what of it answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role, content_hash
from ebbing.language.text.analyzer import query_terms
from ebbing.ports.working_memory import Turn
from ebbing.recall.ranking import relevance

MOST_FITTING: Final = 3
LEAST_COVERAGE: Final = 0.5
"""Share of a question's terms from which a turn answers it."""
_LOOKED_AT: Final = 100


def last_rounds(turns: Sequence[Turn], *, rounds: int, tokens: int) -> list[Turn]:
    """The end of a conversation: at most so many rounds of at most so many estimated tokens.

    A round begins where the user speaks after somebody else. Rounds stay whole, but for a newest one that is too long
    by itself: of that the last messages come back that fit.
    """
    starts = [0, *(at for at, (before, turn) in enumerate(pairwise(turns), start=1) if _begins(before, turn))]
    fit = _fitting_from(turns, tokens)
    whole = [start for start in starts[-rounds:] if start >= fit]
    return list(turns[whole[0] if whole else fit :])


def _begins(before: Turn, turn: Turn) -> bool:
    return turn.message.role is Role.USER and before.message.role is not Role.USER


def _fitting_from(turns: Sequence[Turn], tokens: int) -> int:
    """Place of the first turn from which all to the end cost at most `tokens`."""
    at = len(turns)
    while at and turns[at - 1].tokens <= tokens:
        at -= 1
        tokens -= turns[at].tokens
    return at


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """A turn that answers a question."""

    message: Message
    score: float
    """Relevance in [0, 1], on the scale of every other route."""
    coverage: float
    """Share of the question's terms that it holds, in (0, 1]."""


def match_session_turns(query: str, turns: Sequence[Turn]) -> list[SessionMatch]:
    """The turns, at most three, that hold at least half of a question's terms: the most fitting first, then the newest.

    The question itself, where it was said, does not answer it.
    """
    terms, itself = set(query_terms(query)), content_hash(query)
    if not terms:
        return []
    matches: list[tuple[float, Message]] = []
    for turn in reversed(turns[-_LOOKED_AT:]):
        share = len(terms.intersection(query_terms(turn.message.content))) / len(terms)
        if share >= LEAST_COVERAGE and content_hash(turn.message.content) != itself:
            matches.append((share, turn.message))
    matches = sorted(matches, key=lambda match: -match[0])[:MOST_FITTING]
    shares = [share for share, _ in matches]
    scores = relevance(shares, coverage=shares, meaning=shares)
    return [SessionMatch(message, score, share) for (share, message), score in zip(matches, scores, strict=True)]
