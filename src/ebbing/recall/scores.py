"""The score of every row against one question, with its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind, MemoryType, Role
from ebbing.index.index_entry import term_hash
from ebbing.index.near_rows import Neighbours, along, find_neighbours
from ebbing.index.shard import KINDS, ROLES, TYPES, Shard
from ebbing.language.claims.relations import word_terms
from ebbing.language.signals.asked_for import Topic
from ebbing.language.text.analyzer import TextFlag, query_terms
from ebbing.recall.bm25 import LexicalScores, bm25f, feedback_terms, smooth
from ebbing.recall.question import DAY_MICROS, EntityLink, Question
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import Mask, Scores, best_rows, zscore

# The rows of one owner against one question: the score of each row, with its parts.

LINKED_COVERAGE: Final = 0.9
"""Coverage that a row counts as having which holds the question's wording in another word."""
_MIN_ROWS_OF_LANGUAGE: Final = 30
"""Rows of the question's language below which the others count among its statistics."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RowScores:
    """The scores of every row of a shard, each of shape (size,)."""

    total: Scores
    """What the order is made by."""
    lexical: Scores
    """BM25F points, smoothed."""
    cosine: Scores
    """Cosine of row and question, 0 where a row has no vector."""
    coverage: Scores
    """Share of the question's wording that the row holds itself, in [0, 1]."""
    compared: Mask
    """Rows whose vector was compared with the question's; the others are judged by their words alone."""
    foreign: Mask
    """Rows in another language than the question."""
    answering: Mask
    """Facts that hold the attribute which the question asks for, in whatever language."""
    bonuses: Mapping[str, Scores]
    """Points in `total` by the name of the retriever, for those that apply to this question."""
    session: Scores
    """Points in `total` that the session of a row adds. By themselves they find nothing."""
    answer_probability: Scores | None = None
    """How likely a row answers, by the reader, NaN where it did not look; None without a reader."""
    unread_total: Scores | None = None
    """`total` before the reader's share; None without a reader."""

    @property
    def comparable(self) -> Scores:
        """Totals in which rows that the reader saw and rows that it did not see can be compared."""
        return self.total if self.unread_total is None else self.unread_total


def score_rows(
    shard: Shard, question: Question, *, vector: Vector | None, mask: Mask, settings: RecallSettings
) -> RowScores:
    """Score every row; statistics come from the rows of the mask (those that the caller may get back)."""
    cosine, compared = _cosines(shard, vector)
    foreign = _rows_in_other_language(shard, question)
    neighbours = find_neighbours(shard)
    words = bm25f(shard, question.terms, settings=settings)
    lexical = smooth(shard, words.points, neighbours=neighbours, settings=settings)
    semantic = zscore(cosine, mask & compared, weight=settings.dense_weight, stands_for=shard.stands_for)
    # A row without a vector stands where the average stands: nothing is known against it.
    semantic = np.where(compared, semantic, 0.0)
    keywords = _lexical_share(shard, lexical, mask=mask, semantic=semantic, foreign=foreign, settings=settings)
    trust = _keyword_trust(keywords, semantic=semantic, rows=mask & ~foreign, words=words, settings=settings)
    total = semantic + trust * keywords
    if settings.feedback_weight and shard.size >= settings.feedback_from and words.coverage.any():
        lexical = lexical + _feedback(shard, total, mask=mask, question=question, settings=settings)
        keywords = _lexical_share(shard, lexical, mask=mask, semantic=semantic, foreign=foreign, settings=settings)
        total = semantic + trust * keywords
    traits = row_traits(shard, settings=settings)
    total = _weigh_traits(total, traits, settings=settings)
    coverage = words.coverage
    bonuses = question_bonuses(shard, question, traits=traits, mask=mask, settings=settings)
    if question.links:
        linked = link_coverage(shard, question.links, settings=settings)
        bonuses["graph"] = settings.graph_bonus * linked
        coverage = np.maximum(coverage, LINKED_COVERAGE * linked)
    for points in bonuses.values():
        total = total + points
    answering = facts_about(shard, question.topic)
    if answering.any():
        bonuses["attribute"] = lift(total, answering, mask=mask, min_points=settings.attribute_bonus)
        total = total + bonuses["attribute"]
        coverage = np.where(answering, np.maximum(coverage, LINKED_COVERAGE), coverage)
    session = session_bonus(total, mask=mask, neighbours=neighbours, settings=settings)
    return RowScores(
        total=total + session,
        lexical=lexical,
        cosine=cosine,
        coverage=coverage,
        compared=compared,
        foreign=foreign,
        answering=answering,
        bonuses=bonuses,
        session=session,
    )


def join_conversation(
    shard: Shard, question: RowScores, *, conversation: RowScores, mask: Mask, settings: RecallSettings
) -> RowScores:
    """Join the scores for a question with those for the conversation that it closes.

    The conversation repeats what is known of its topic, and what came of that is told in other words: rows that share
    words and meaning with the best row of both are lifted with it.
    """
    share = settings.question_share
    total = share * question.total + (1.0 - share) * conversation.total
    return replace(
        question,
        total=total + _topic_bonus(shard, total, mask=mask, settings=settings),
        cosine=np.maximum(question.cosine, conversation.cosine),
        coverage=np.maximum(question.coverage, conversation.coverage),
    )


def _topic_bonus(shard: Shard, total: Scores, *, mask: Mask, settings: RecallSettings) -> Scores:
    """Return points for what a row shares with the best one, which gets half as many as the best of the others."""
    best = best_rows(total, mask, count=1)
    others = mask.copy()
    others[best] = False
    points = np.zeros(shard.size)
    if not others.any():
        return points
    terms = feedback_terms(shard, best, query_terms=(), settings=settings)
    if terms:
        lexical = bm25f(shard, terms, settings=settings).points
        points = points + zscore(lexical, others, weight=settings.topic_weight, stands_for=shard.stands_for)
    if shard.embedded[best].all():
        cosine = along(shard.vectors, shard.vectors[best[0]]).astype(np.float64)
        points = points + zscore(cosine, others, weight=settings.topic_weight, stands_for=shard.stands_for)
    points[best] = 0.5 * points[others].max()
    return points


def _cosines(shard: Shard, vector: Vector | None) -> tuple[Scores, Mask]:
    """Return the cosine of each row, and for which rows there is one."""
    if vector is None or shard.dim != len(vector):
        return np.zeros(shard.size), np.zeros(shard.size, dtype=np.bool_)
    return along(shard.vectors, vector).astype(np.float64), shard.embedded


def _rows_in_other_language(shard: Shard, question: Question) -> Mask:
    """Return the rows in another language than the question's, where the scripts of both decide it."""
    other = TextFlag.CHINESE | TextFlag.ENGLISH
    other = other & ~question.language if question.language else TextFlag(0)
    mask: Mask = (shard.flags & other) != 0
    return mask


def _lexical_share(
    shard: Shard, lexical: Scores, *, mask: Mask, semantic: Scores, foreign: Mask, settings: RecallSettings
) -> Scores:
    """Return the part of the total that keywords give.

    Rows of the question's language are compared with one another. A row of another language shares hardly a term with
    the question whatever it says: nothing is known against it, and its meaning stands in for its words.
    """
    if not foreign.any() or not semantic.any():
        return zscore(lexical, mask, weight=settings.lexical_weight, stands_for=shard.stands_for)
    min_count = min(int(np.count_nonzero(mask)), _MIN_ROWS_OF_LANGUAGE)
    words = zscore(
        lexical, mask & ~foreign, weight=settings.lexical_weight, min_count=min_count, stands_for=shard.stands_for
    )
    meaning = settings.other_language_weight / settings.dense_weight * semantic
    shares_words = foreign & (lexical > 0)
    return np.where(shares_words, np.maximum(words, meaning), np.where(foreign, meaning, words))


def _keyword_trust(
    keywords: Scores, *, semantic: Scores, rows: Mask, words: LexicalScores, settings: RecallSettings
) -> float:
    """Return how far keywords count for this question, in [`settings.least_trust`, 1].

    People ask in other words than they told. Then keywords find rows by a word that stands there by chance, and such
    rows are far in meaning. So keywords count in full where their best rows are near in meaning too, or where one row
    holds much of the question's wording; and among a few rows, where nothing can be told of either.
    """
    by_words = best_rows(keywords, rows & (words.points > 0), count=settings.trust_rows)
    if not len(by_words) or np.count_nonzero(rows) < 2 * settings.trust_rows:
        return 1.0
    nearest = semantic[best_rows(semantic, rows, count=len(by_words))].mean()
    if nearest <= 0:
        return 1.0
    agreement = semantic[by_words].mean() / nearest
    coverage = words.coverage[rows].max(initial=0.0)
    shares = (settings.least_trust, 1.0)
    by_agreement = np.interp(agreement, settings.trust_agreement, shares)
    by_coverage = np.interp(coverage, settings.trust_coverage, shares)
    return float(max(by_agreement, by_coverage))


def _feedback(shard: Shard, total: Scores, *, mask: Mask, question: Question, settings: RecallSettings) -> Scores:
    """Return what the rare terms of the best rows add to the keyword scores."""
    best = best_rows(total, mask, count=settings.feedback_rows)
    terms = feedback_terms(shard, best, query_terms=question.terms, settings=settings)
    mean_length = max(float(shard.length[best].mean()), 1.0)
    brevity = min(1.0, settings.feedback_length / mean_length)
    return settings.feedback_weight * brevity * bm25f(shard, terms, settings=settings).points


def _weigh_traits(total: Scores, traits: RowTraits, *, settings: RecallSettings) -> Scores:
    """Lower what an assistant said and what only asks; prefer what is important and fresh."""
    total = np.where(traits.assistant, settings.assistant_weight * total, total)
    total = np.where(traits.asking, np.minimum(total, settings.asking_weight * total), total)
    return np.asarray(total + traits.worth)


# Points for what speaks for a row beside its words and its meaning.

_MEMORY: Final = KINDS.index(Kind.MEMORY)
_CONSTRAINT: Final = TYPES.index(MemoryType.CONSTRAINT)
_ASSISTANT: Final = ROLES.index(Role.ASSISTANT)


@dataclass(frozen=True, slots=True)
class RowTraits:
    """Rows that something about their text or speaker sets apart."""

    assistant: Mask
    asking: Mask
    """Messages that ask and tell nothing."""
    instruction: Mask
    """Standing instructions."""
    preference: Mask
    worth: Scores
    """Points for importance and strength around their mean."""


def row_traits(shard: Shard, *, settings: RecallSettings) -> RowTraits:
    """Return the traits of all rows; the shard caches them until a row changes."""
    return shard.cached("row traits", lambda: _read_traits(shard, settings=settings))


def _read_traits(shard: Shard, *, settings: RecallSettings) -> RowTraits:
    worth = shard.importance + shard.strength
    mean = worth.mean() if shard.size else 0.0
    return RowTraits(
        assistant=shard.role == _ASSISTANT,
        asking=(shard.flags & TextFlag.ASKING) != 0,
        instruction=(shard.flags & TextFlag.INSTRUCTION) != 0,
        preference=(shard.flags & TextFlag.PREFERENCE) != 0,
        worth=settings.standing_weight / 2 * (worth - mean),
    )


def question_bonuses(
    shard: Shard, question: Question, *, traits: RowTraits, mask: Mask, settings: RecallSettings
) -> dict[str, Scores]:
    """Return the points of each retriever that applies to this question, by its name."""
    bonuses: dict[str, Scores] = {}
    rule: Scores = settings.instruction_bonus * traits.instruction.astype(np.float64)
    if question.advice:
        rule += settings.preference_bonus * traits.preference
    if rule.any():
        bonuses["rule"] = rule
    if question.speakers:
        is_speaker = np.isin(shard.actor, list(question.speakers))
        bonuses["speaker"] = settings.speaker_bonus * is_speaker.astype(np.float64)
    if question.quotes:
        quoted = _rows_with_phrase(shard, question.quotes)
        bonuses["quote"] = settings.quote_bonus * quoted.astype(np.float64)
    if question.names:
        named = _rows_with_phrase(shard, question.names)
        bonuses["name"] = settings.name_bonus * named.astype(np.float64)
    if question.times.spans:
        bonuses["time"] = _time_bonus(shard, question, mask=mask, settings=settings)
    return bonuses


def _time_bonus(shard: Shard, question: Question, *, mask: Mask, settings: RecallSettings) -> Scores:
    """Return points for what was said in the time that the question names, and fewer for what was said near it.

    What the question asks about may have been told later, so that wording decides where a row holds it.
    """
    days_before = settings.date_days_before * DAY_MICROS
    days_after = settings.date_days_after * DAY_MICROS
    in_span = np.zeros(shard.size, dtype=np.bool_)
    near_span = np.zeros(shard.size, dtype=np.bool_)
    for first, last in question.times.spans:
        in_span |= (shard.created >= first) & (shard.created <= last)
        near_span |= (shard.created >= first - days_before) & (shard.created <= last + days_after)
    share = _time_share(shard, question, mask=mask, settings=settings)
    points: Scores = settings.date_bonus * near_span + settings.in_time_bonus * share * in_span
    return points


def _time_share(shard: Shard, question: Question, *, mask: Mask, settings: RecallSettings) -> float:
    """Return how far the time decides and not the wording, in [0, 1]."""
    if question.times.date_terms and shard.postings.rows_with_all(question.times.date_terms)[mask].any():
        return 0.0
    best_coverage = 0.0
    if len(question.times.other_terms) > 1:
        coverage = bm25f(shard, question.times.other_terms, settings=settings).coverage
        best_coverage = float(coverage.max(initial=0.0, where=mask))
    return max(0.0, 1.0 - best_coverage / settings.in_time_coverage)


def link_coverage(shard: Shard, links: Sequence[EntityLink], *, settings: RecallSettings) -> Scores:
    """Return the share of the question's wording that a row holds with the other word, for rows with that word."""
    coverage = np.zeros(shard.size)
    for link in links:
        has_word = shard.postings.rows_with_all(link.replacement)
        if link.actor:
            has_word &= (shard.actor == link.actor) | (shard.actor == 0)
        if has_word.any():
            in_other_word = bm25f(shard, link.terms, settings=settings).coverage
            coverage = np.maximum(coverage, has_word * in_other_word)
    return coverage


def facts_about(shard: Shard, topic: Topic | None) -> Mask:
    """Return the rows of facts that tell of the person what the topic names.

    A fact counts by its attribute. A constraint without one counts by its words, unless these name somebody else.
    """
    if topic is None:
        return np.zeros(shard.size, dtype=np.bool_)
    codes = [code for name, code in shard.attributes.items() if is_about(name, topic)]
    words = {term for word in topic.words for term in query_terms(word) if len(term) > 1}
    names_topic = shard.postings.rows_with_any(map(term_hash, words))
    names_somebody = shard.postings.rows_with_any(map(term_hash, word_terms()))
    by_words = (shard.type == _CONSTRAINT) & (shard.attribute == 0) & names_topic & ~names_somebody
    by_attribute = np.isin(shard.attribute, codes)
    mask: Mask = (shard.kind == _MEMORY) & (by_attribute | by_words)
    return mask


def is_about(attribute: str, topic: Topic) -> bool:
    """Return whether an attribute has one of the topic's names, or begins with it as a word: "allergic to walnut"."""
    return any(attribute == name or attribute.startswith(f"{name.rstrip()} ") for name in topic.attributes)


def lift(total: Scores, answering: Mask, *, mask: Mask, min_points: float) -> Scores:
    """Return the points of facts that answer: as many as bring the best of them level with the best row there is.

    A fact of a few words may share none with the question, and in a large store scores spread far: no fixed number of
    points would do.
    """
    answers = answering & mask
    gap = float(total[mask].max() - total[answers].max()) if answers.any() else 0.0
    return np.where(answering, max(min_points, gap), 0.0)


def session_bonus(total: Scores, *, mask: Mask, neighbours: Neighbours, settings: RecallSettings) -> Scores:
    """Return the share of the best score of each row's session, larger in a session with more rows."""
    weight = settings.diary_session_prior if neighbours.one_speaker else settings.session_prior
    if not weight:
        return np.zeros(len(total))
    sizes = neighbours.session_sizes
    best = np.full(len(sizes), -np.inf)
    np.maximum.at(best, neighbours.session[mask], total[mask])
    best[best == -np.inf] = 0.0
    by_session = weight * best * sizes / (sizes + settings.session_half)
    bonus: Scores = by_session[neighbours.session]
    return bonus


def _rows_with_phrase(shard: Shard, phrases: Sequence[tuple[int, ...]]) -> Mask:
    """Return the rows whose text holds every term of one of the phrases."""
    mask = np.zeros(shard.size, dtype=np.bool_)
    for terms in phrases:
        mask |= shard.postings.rows_with_all(terms)
    return mask
