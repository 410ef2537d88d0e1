"""Points for what speaks for a row beside its words and its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ebbing.domain.memory.record import Kind, MemoryType, Role
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import KINDS, ROLES, TYPES, Shard
from ebbing.index.turn_neighbours import Neighbours
from ebbing.language.claims.relations import word_terms
from ebbing.language.signals.asked_for import Topic
from ebbing.language.text.analyzer import TextFlag, query_terms
from ebbing.recall.base.fusion import Mask, Scores
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.query.parse_query import DAY_MICROS, EntityLink, Question
from ebbing.recall.scoring.bm25 import bm25f

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
    codes = [code for name, code in shard.attributes.items() if _is_about(name, topic)]
    words = {term for word in topic.words for term in query_terms(word) if len(term) > 1}
    names_topic = shard.postings.rows_with_any(map(term_hash, words))
    names_somebody = shard.postings.rows_with_any(map(term_hash, word_terms()))
    by_words = (shard.type == _CONSTRAINT) & (shard.attribute == 0) & names_topic & ~names_somebody
    by_attribute = np.isin(shard.attribute, codes)
    mask: Mask = (shard.kind == _MEMORY) & (by_attribute | by_words)
    return mask


def _is_about(attribute: str, topic: Topic) -> bool:
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
