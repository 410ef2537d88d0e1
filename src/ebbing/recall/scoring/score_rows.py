"""One owner's rows against one question: every leg over every row, fused, with what else speaks for a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Role
from ebbing.index.dot_products import along
from ebbing.index.shard import ROLES, Shard
from ebbing.index.turn_neighbours import Neighbours
from ebbing.language.text.analyzer import TextFlag
from ebbing.recall.base.fusion import Mask, Scores, best_rows, is_whole, reciprocal_rank, zscore
from ebbing.recall.base.tuning import Tuning
from ebbing.recall.query.parse_query import Link, Question
from ebbing.recall.scoring.bm25 import bm25f, feedback_terms, smooth

_ASSISTANT: Final = ROLES.index(Role.ASSISTANT)
LINKED_COVERAGE: Final = 0.9
"""What wording counts that a row holds in another word than the question's, to the judgement of how well it fits."""


@dataclass(slots=True)
class Scored:
    """Per row of the shard, shape (size,). Not frozen, like `Hit`, for speed."""

    total: Scores
    """What the order is made by."""
    lexical: Scores
    """BM25F points, smoothed."""
    dense: Scores
    """Cosine, 0 where a row has no vector."""
    coverage: Scores
    """Share of the question's wording that the row holds itself, in [0, 1]."""
    compared: Mask
    """Rows whose vector was held against the question's; the others are judged by their words alone."""
    bonuses: Mapping[str, Scores]
    """Route name to the points that it adds to `total`, for the routes that apply to this question."""
    session: Scores | float
    """What a row's session lends it, in `total` too; one number where all have one. By itself it finds nothing."""


def score_rows(
    shard: Shard,
    question: Question,
    *,
    vector: NDArray[np.float32] | None,
    among: Mask,
    near: Neighbours,
    tuning: Tuning,
) -> Scored:
    """Scores every row; statistics come from the rows in `among` (those the caller may get back)."""
    dense, compared = _dense(shard, vector)
    wording = bm25f(shard, question.terms, tuning=tuning)
    lexical = smooth(shard, wording.points, near=near, tuning=tuning)
    some = None if is_whole(among) else among
    meant = _meant(dense, some, compared=compared, tuning=tuning)
    total = meant + _levelled(lexical, some, weight=tuning.lexical_weight, tuning=tuning)
    if tuning.feedback_weight and shard.size >= tuning.feedback_from and wording.coverage.any():
        lexical = lexical + _feedback(shard, total, among=among, question=question, tuning=tuning)
        total = meant + _levelled(lexical, some, weight=tuning.lexical_weight, tuning=tuning)
    surface = shard.kept("surface", lambda: _surface(shard, tuning=tuning))
    if surface.assistant is not None:
        total = np.where(surface.assistant, tuning.assistant_weight * total, total)
    if surface.worth is not None:
        total += surface.worth
    bonuses = _bonuses(shard, question, surface=surface, tuning=tuning)
    coverage = wording.coverage
    if question.links:
        share = _through_links(shard, question.links, tuning=tuning)
        bonuses["graph"] = tuning.graph_bonus * share
        coverage = np.maximum(coverage, LINKED_COVERAGE * share)
    for points in bonuses.values():
        total += points
    lent: Scores | float = 0.0
    if prior := tuning.diary_session_prior if near.one_speaker else tuning.session_prior:
        lent = prior * _session_lift(total, some, near=near, tuning=tuning)
        total += lent
    return Scored(total, lexical, dense, coverage, compared, bonuses, lent)


@dataclass(frozen=True, slots=True)
class _Surface:
    """Rows that something about their wording or speaker sets apart; None where there are none."""

    assistant: Mask | None
    standing: Mask | None
    """Standing instructions."""
    preferred: Mask | None
    """Preferences."""
    worth: Scores | None
    """Points for importance and strength around their middle; None where all rows are alike."""


def _surface(shard: Shard, *, tuning: Tuning) -> _Surface:
    def some(mask: Mask) -> Mask | None:
        return mask if mask.any() else None

    worth = shard.importance + shard.strength
    return _Surface(
        assistant=some(shard.role == _ASSISTANT),
        standing=some((shard.flags & TextFlag.INSTRUCTION) != 0),
        preferred=some((shard.flags & TextFlag.PREFERENCE) != 0),
        worth=tuning.standing_weight / 2 * (worth - worth.mean()) if shard.size and np.ptp(worth) > 0 else None,
    )


def _levelled(scores: Scores, among: Mask | None, *, weight: float, tuning: Tuning) -> Scores:
    """A leg's scores, weighted, on the scale on which legs are added up; None stands for all rows, as below."""
    if tuning.fusion == "rrf":
        return weight * tuning.rrf_scale * reciprocal_rank(scores, among, k=tuning.rrf_k)
    return zscore(scores, among, weight=weight)


def _feedback(shard: Shard, total: Scores, *, among: Mask, question: Question, tuning: Tuning) -> Scores:
    """What the rare terms of the best rows add to the keyword leg."""
    best = best_rows(total, among, count=tuning.feedback_rows)
    terms = feedback_terms(shard, best, asked=question.terms, tuning=tuning)
    brevity = min(1.0, tuning.feedback_length / max(float(shard.length[best].mean()), 1.0))
    return tuning.feedback_weight * brevity * bm25f(shard, terms, tuning=tuning).points


def _dense(shard: Shard, vector: NDArray[np.float32] | None) -> tuple[Scores, Mask]:
    """Cosines, and for which rows there is one."""
    if vector is None or shard.dim != len(vector):
        return np.zeros(shard.size), np.zeros(shard.size, dtype=np.bool_)
    return along(shard.vectors, vector).astype(np.float64), shard.embedded


def _meant(dense: Scores, among: Mask | None, *, compared: Mask, tuning: Tuning) -> Scores:
    """The vectors' leg. A row without a vector stands where the average stands: nothing is known against it."""
    if is_whole(compared):
        return _levelled(dense, among, weight=tuning.dense_weight, tuning=tuning)
    both = compared if among is None else among & compared
    return np.where(compared, _levelled(dense, both, weight=tuning.dense_weight, tuning=tuning), 0.0)


def _bonuses(shard: Shard, question: Question, *, surface: _Surface, tuning: Tuning) -> dict[str, Scores]:
    """What speaks for a row beside words and meaning, by route; empty where nothing applies."""
    bonuses: dict[str, Scores] = {}
    if surface.standing is not None:
        bonuses["rule"] = tuning.instruction_bonus * surface.standing.astype(np.float64)
    if question.advice and surface.preferred is not None:
        bonuses["rule"] = bonuses.get("rule", 0.0) + tuning.preference_bonus * surface.preferred.astype(np.float64)
    if question.speakers:
        bonuses["speaker"] = tuning.speaker_bonus * np.isin(shard.actor, list(question.speakers)).astype(np.float64)
    if question.quotes:
        bonuses["quote"] = tuning.quote_bonus * _holding(shard, question.quotes)
    if question.names:
        bonuses["name"] = tuning.name_bonus * _holding(shard, question.names)
    if question.spans:
        inside = np.zeros(shard.size, dtype=bool)
        for first, last in question.spans:
            inside |= (shard.created >= first) & (shard.created <= last)
        bonus = tuning.only_date_bonus if question.only_time else tuning.date_bonus
        bonuses["time"] = bonus * inside.astype(np.float64)
    return bonuses


def _through_links(shard: Shard, links: Sequence[Link], *, tuning: Tuning) -> Scores:
    """Share of the question's wording that a row holds in the other word, for rows that hold that word."""
    share = np.zeros(shard.size)
    for link in links:
        meant = _holding(shard, [link.instead])
        if link.actor:
            meant *= (shard.actor == link.actor) | (shard.actor == 0)
        if meant.any():
            share = np.maximum(share, meant * bm25f(shard, link.terms, tuning=tuning).coverage)
    return share


def _holding(shard: Shard, phrases: Sequence[tuple[int, ...]]) -> Scores:
    """1 for rows whose text holds every term of one of the phrases, else 0."""
    held = np.zeros(shard.size, dtype=bool)
    for terms in phrases:
        found = shard.postings.find(np.array(terms, dtype=np.uint64))
        held |= np.bincount(found.rows[found.tf > 0], minlength=shard.size) == len(terms)
    return held.astype(np.float64)


def _session_lift(total: Scores, among: Mask | None, *, near: Neighbours, tuning: Tuning) -> Scores | float:
    """Best score of each row's session, the more of it the more rows the session has; one number where all have one."""
    sizes = near.session_sizes
    if len(sizes) == 1:
        best_of_all = float(np.maximum.reduce(total if among is None else total[among]))
        return best_of_all * len(total) / (len(total) + tuning.session_half)
    best = np.full(len(sizes), -np.inf)
    rows = slice(None) if among is None else among
    np.maximum.at(best, near.session[rows], total[rows])
    best[best == -np.inf] = 0.0
    lift: Scores = (best * (sizes / (sizes + tuning.session_half)))[near.session]
    return lift
