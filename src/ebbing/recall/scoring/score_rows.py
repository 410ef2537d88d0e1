"""One owner's rows against one question: every leg over every row, fused, with what else speaks for a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Role
from ebbing.index.dot_products import along
from ebbing.index.shard import ROLES, Shard
from ebbing.index.turn_neighbours import Neighbours
from ebbing.language.text.analyzer import TextFlag
from ebbing.recall.base.fusion import Mask, Scores, best_rows, is_empty, is_whole, reciprocal_rank, zscore
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.query.attributes import facts_about, lift
from ebbing.recall.query.parse_query import DAY_MICROS, Link, Question
from ebbing.recall.scoring.bm25 import bm25f, feedback_terms, smooth

_ASSISTANT: Final = ROLES.index(Role.ASSISTANT)
_FEW_ROWS: Final = 30
"""Rows of the question's language below which the others count among its statistics."""
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
    foreign: Mask | None
    """Rows in another language than the question; None where there are none."""
    answering: Mask | None
    """Facts that hold the attribute which the question asks for, in whatever language; None where there are none."""
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
    recall_settings: RecallSettings,
) -> Scored:
    """Scores every row; statistics come from the rows in `among` (those the caller may get back)."""
    dense, compared = _dense(shard, vector)
    wording = bm25f(shard, question.terms, recall_settings=recall_settings)
    lexical = smooth(shard, wording.points, near=near, recall_settings=recall_settings)
    some = None if is_whole(among) else among
    meant = _meant(dense, some, compared=compared, recall_settings=recall_settings)
    foreign = _foreign(shard, question)
    total = meant + _worded(lexical, some, meant=meant, foreign=foreign, recall_settings=recall_settings)
    if recall_settings.feedback_weight and shard.size >= recall_settings.feedback_from and wording.coverage.any():
        lexical = lexical + _feedback(shard, total, among=among, question=question, recall_settings=recall_settings)
        total = meant + _worded(lexical, some, meant=meant, foreign=foreign, recall_settings=recall_settings)
    surface = shard.kept("surface", lambda: _surface(shard, recall_settings=recall_settings))
    if surface.assistant is not None:
        total = np.where(surface.assistant, recall_settings.assistant_weight * total, total)
    if surface.asking is not None:
        total = np.where(surface.asking, np.minimum(total, recall_settings.asking_weight * total), total)
    if surface.worth is not None:
        total += surface.worth
    bonuses = _bonuses(shard, question, surface=surface, recall_settings=recall_settings)
    coverage = wording.coverage
    if question.spans:
        bonuses["time"] = _in_time(shard, question, among=among, recall_settings=recall_settings)
    if question.links:
        share = _through_links(shard, question.links, recall_settings=recall_settings)
        bonuses["graph"] = recall_settings.graph_bonus * share
        coverage = np.maximum(coverage, LINKED_COVERAGE * share)
    for points in bonuses.values():
        total += points
    answering = facts_about(shard, question.topic)
    if answering is not None:
        bonuses["attribute"] = lift(total, answering, among=among, at_least=recall_settings.attribute_bonus)
        total += bonuses["attribute"]
        coverage = np.where(answering, np.maximum(coverage, LINKED_COVERAGE), coverage)
    lent: Scores | float = 0.0
    if prior := recall_settings.diary_session_prior if near.one_speaker else recall_settings.session_prior:
        lent = prior * _session_lift(total, some, near=near, recall_settings=recall_settings)
        total += lent
    return Scored(total, lexical, dense, coverage, compared, foreign, answering, bonuses, lent)


def joined(
    shard: Shard, question: Scored, *, conversation: Scored, among: Mask, recall_settings: RecallSettings
) -> Scored:
    """The rows against a question and against the conversation that it closes: what speaks for a row in either.

    The conversation repeats what is known of its topic, and what came of that is told in other words: rows that share
    words and meaning with the best row of both are lifted with it.
    """
    total = (
        recall_settings.question_share * question.total + (1.0 - recall_settings.question_share) * conversation.total
    )
    return replace(
        question,
        total=total + _about_the_same(shard, total, among=among, recall_settings=recall_settings),
        dense=np.maximum(question.dense, conversation.dense),
        coverage=np.maximum(question.coverage, conversation.coverage),
    )


def _about_the_same(shard: Shard, total: Scores, *, among: Mask, recall_settings: RecallSettings) -> Scores:
    """Points of rows for what they share with the best one, which gets half as many as the best of them."""
    best = best_rows(total, among, count=1)
    terms = feedback_terms(shard, best, asked=(), recall_settings=recall_settings)
    others = among.copy()
    others[best] = False
    if is_empty(others):
        return np.zeros(shard.size)
    wording = bm25f(shard, terms, recall_settings=recall_settings).points if terms else np.zeros(shard.size)
    points = zscore(wording, others, weight=recall_settings.topic_weight)
    if shard.embedded[best].all():
        points = points + zscore(
            along(shard.vectors, shard.vectors[best[0]]).astype(np.float64), others, weight=recall_settings.topic_weight
        )
    points[best] = 0.5 * points[others].max()
    return points


@dataclass(frozen=True, slots=True)
class _Surface:
    """Rows that something about their wording or speaker sets apart; None where there are none."""

    assistant: Mask | None
    asking: Mask | None
    """Messages that ask and tell nothing."""
    standing: Mask | None
    """Standing instructions."""
    preferred: Mask | None
    """Preferences."""
    worth: Scores | None
    """Points for importance and strength around their middle; None where all rows are alike."""


def _surface(shard: Shard, *, recall_settings: RecallSettings) -> _Surface:
    def some(mask: Mask) -> Mask | None:
        return mask if mask.any() else None

    worth = shard.importance + shard.strength
    return _Surface(
        assistant=some(shard.role == _ASSISTANT),
        asking=some((shard.flags & TextFlag.ASKING) != 0),
        standing=some((shard.flags & TextFlag.INSTRUCTION) != 0),
        preferred=some((shard.flags & TextFlag.PREFERENCE) != 0),
        worth=recall_settings.standing_weight / 2 * (worth - worth.mean())
        if shard.size and np.ptp(worth) > 0
        else None,
    )


def _levelled(scores: Scores, among: Mask | None, *, weight: float, recall_settings: RecallSettings) -> Scores:
    """A leg's scores, weighted, on the scale on which legs are added up; None stands for all rows, as below."""
    if recall_settings.fusion == "rrf":
        return weight * recall_settings.rrf_scale * reciprocal_rank(scores, among, k=recall_settings.rrf_k)
    return zscore(scores, among, weight=weight)


def _foreign(shard: Shard, question: Question) -> Mask | None:
    """Rows in another language than the question's, where the scripts of both decide it; None where there are none."""
    if not question.language:
        return None
    other = (TextFlag.CHINESE | TextFlag.ENGLISH) & ~question.language
    mask: Mask = shard.kept(f"rows in {other}", lambda: (shard.flags & other) != 0)
    return mask if mask.any() else None


def _worded(
    lexical: Scores, among: Mask | None, *, meant: Scores, foreign: Mask | None, recall_settings: RecallSettings
) -> Scores:
    """The keyword leg's share of the total.

    Rows of the question's language are held against one another. A row of another language shares hardly a term with
    the question whatever it says: nothing is known against it, and its meaning stands in for its words.
    """
    if foreign is None or recall_settings.fusion == "rrf" or not meant.any():
        return _levelled(lexical, among, weight=recall_settings.lexical_weight, recall_settings=recall_settings)
    own = ~foreign if among is None else among & ~foreign
    admitted = len(own) if among is None else int(np.count_nonzero(among))
    words = zscore(lexical, own, weight=recall_settings.lexical_weight, at_least=min(admitted, _FEW_ROWS))
    instead = recall_settings.other_language_weight / recall_settings.dense_weight * meant
    return np.where(foreign, np.where(lexical > 0, np.maximum(words, instead), instead), words)


def _feedback(
    shard: Shard, total: Scores, *, among: Mask, question: Question, recall_settings: RecallSettings
) -> Scores:
    """What the rare terms of the best rows add to the keyword leg."""
    best = best_rows(total, among, count=recall_settings.feedback_rows)
    terms = feedback_terms(shard, best, asked=question.terms, recall_settings=recall_settings)
    brevity = min(1.0, recall_settings.feedback_length / max(float(shard.length[best].mean()), 1.0))
    return recall_settings.feedback_weight * brevity * bm25f(shard, terms, recall_settings=recall_settings).points


def _dense(shard: Shard, vector: NDArray[np.float32] | None) -> tuple[Scores, Mask]:
    """Cosines, and for which rows there is one."""
    if vector is None or shard.dim != len(vector):
        return np.zeros(shard.size), np.zeros(shard.size, dtype=np.bool_)
    return along(shard.vectors, vector).astype(np.float64), shard.embedded


def _meant(dense: Scores, among: Mask | None, *, compared: Mask, recall_settings: RecallSettings) -> Scores:
    """The vectors' leg. A row without a vector stands where the average stands: nothing is known against it."""
    if is_whole(compared):
        return _levelled(dense, among, weight=recall_settings.dense_weight, recall_settings=recall_settings)
    both = compared if among is None else among & compared
    return np.where(
        compared, _levelled(dense, both, weight=recall_settings.dense_weight, recall_settings=recall_settings), 0.0
    )


def _bonuses(
    shard: Shard, question: Question, *, surface: _Surface, recall_settings: RecallSettings
) -> dict[str, Scores]:
    """What speaks for a row beside words and meaning, by route; empty where nothing applies."""
    bonuses: dict[str, Scores] = {}
    if surface.standing is not None:
        bonuses["rule"] = recall_settings.instruction_bonus * surface.standing.astype(np.float64)
    if question.advice and surface.preferred is not None:
        bonuses["rule"] = bonuses.get("rule", 0.0) + recall_settings.preference_bonus * surface.preferred.astype(
            np.float64
        )
    if question.speakers:
        bonuses["speaker"] = recall_settings.speaker_bonus * np.isin(shard.actor, list(question.speakers)).astype(
            np.float64
        )
    if question.quotes:
        bonuses["quote"] = recall_settings.quote_bonus * _holding(shard, question.quotes)
    if question.names:
        bonuses["name"] = recall_settings.name_bonus * _holding(shard, question.names)
    return bonuses


def _in_time(shard: Shard, question: Question, *, among: Mask, recall_settings: RecallSettings) -> Scores:
    """Points for what was said in the time that the question names, and fewer for what was said around it.

    What the question asks about may have been told later, so that wording decides where a row holds it.
    """
    early, late = recall_settings.date_days_before * DAY_MICROS, recall_settings.date_days_after * DAY_MICROS
    inside, around = np.zeros((2, shard.size), dtype=np.bool_)
    for first, last in question.spans:
        inside |= (shard.created >= first) & (shard.created <= last)
        around |= (shard.created >= first - early) & (shard.created <= last + late)
    best = 0.0
    if len(question.beside_time) > 1:
        best = float(
            bm25f(shard, question.beside_time, recall_settings=recall_settings).coverage.max(initial=0.0, where=among)
        )
    share = max(0.0, 1.0 - best / recall_settings.in_time_coverage)
    if question.time_in_words and (_holding(shard, [question.time_in_words])[among] > 0).any():
        share = 0.0
    points: Scores = recall_settings.date_bonus * around + recall_settings.in_time_bonus * share * inside
    return points


def _through_links(shard: Shard, links: Sequence[Link], *, recall_settings: RecallSettings) -> Scores:
    """Share of the question's wording that a row holds in the other word, for rows that hold that word."""
    share = np.zeros(shard.size)
    for link in links:
        meant = _holding(shard, [link.instead])
        if link.actor:
            meant *= (shard.actor == link.actor) | (shard.actor == 0)
        if meant.any():
            share = np.maximum(share, meant * bm25f(shard, link.terms, recall_settings=recall_settings).coverage)
    return share


def _holding(shard: Shard, phrases: Sequence[tuple[int, ...]]) -> Scores:
    """1 for rows whose text holds every term of one of the phrases, else 0."""
    held = np.zeros(shard.size, dtype=bool)
    for terms in phrases:
        found = shard.postings.find(np.array(terms, dtype=np.uint64))
        held |= np.bincount(found.rows[found.tf > 0], minlength=shard.size) == len(terms)
    return held.astype(np.float64)


def _session_lift(
    total: Scores, among: Mask | None, *, near: Neighbours, recall_settings: RecallSettings
) -> Scores | float:
    """Best score of each row's session, the more of it the more rows the session has; one number where all have one."""
    sizes = near.session_sizes
    if len(sizes) == 1:
        best_of_all = float(np.maximum.reduce(total if among is None else total[among]))
        return best_of_all * len(total) / (len(total) + recall_settings.session_half)
    best = np.full(len(sizes), -np.inf)
    rows = slice(None) if among is None else among
    np.maximum.at(best, near.session[rows], total[rows])
    best[best == -np.inf] = 0.0
    lift: Scores = (best * (sizes / (sizes + recall_settings.session_half)))[near.session]
    return lift
