"""Which statements say the same: near in meaning, and one of them holding the words of the others."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.language.wording.paraphrase import comparable, holds, news
from ebbing.upkeep.merging.mergeable import Statement

LONG_UNITS: Final = 18
"""From so many units on, two tellings of one thing never hold each other's words in full: their share counts."""
SHARED_NEWS: Final = 0.35
"""Share of a long text's units that another telling of the same may lack."""
MORE: Final = 0.5
"""Share of its units by which a short text may say more than one that it holds."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Statements that one record can tell."""

    lead: Statement
    """It says all that the others say; of those that do, the shortest."""
    members: tuple[Statement, ...]
    """All of them, the lead included."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, by their places, that are near in meaning."""

    first: int
    second: int
    similarity: float
    """Calibrated, in [0, 1]."""


def clusters(statements: Sequence[Statement], pairs: Sequence[Pair], *, policy: UpkeepPolicy) -> list[Cluster]:
    """Groups of statements that one of them tells, the most often said first.

    Each statement is in one group at most. The one that stands for the most mentions leads first, so that no chain of
    small differences joins what is different.
    """
    told_by: dict[int, set[int]] = defaultdict(set)
    for pair in pairs:
        first, other = statements[pair.first], statements[pair.second]
        if tells(first, other, similarity=pair.similarity, policy=policy):
            told_by[pair.first].add(pair.second)
        if tells(other, first, similarity=pair.similarity, policy=policy):
            told_by[pair.second].add(pair.first)
    groups = _covering(statements, told_by)
    taken = set[int]().union(*groups)
    groups += [{place} for place, first in enumerate(statements) if len(first.records) > 1 and place not in taken]
    all_clusters = [_cluster(statements, group, told_by=told_by) for group in groups]
    least = policy.merge_min_records
    return [first for first in all_clusters if sum(len(statement.records) for statement in first.members) >= least]


def tells(teller: Statement, other: Statement, *, similarity: float, policy: UpkeepPolicy) -> bool:
    """Whether a record with the text of `one` would say what `other` says.

    Short: it holds all its words in their order, and little more. Long: most of the words of each are in the other.
    """
    if teller.matter != other.matter or not comparable(teller.gist, other.gist):
        return False
    length, shorter = len(teller.gist.units), min(len(teller.gist.units), len(other.gist.units))
    if shorter >= LONG_UNITS and similarity >= policy.merge_similarity:
        return max(news(teller.gist, other.gist), news(other.gist, teller.gist)) <= SHARED_NEWS
    if similarity < policy.merge_held_similarity or length - len(other.gist.units) > MORE * length:
        return False
    return holds(teller.gist, other.gist)


def _covering(statements: Sequence[Statement], told_by: Mapping[int, set[int]]) -> list[set[int]]:
    """Takes the statement that stands for the most mentions, with what it tells, until none tells another."""
    free = set(range(len(statements)))

    def worth(place: int) -> int:
        return sum(statements[other].mentions for other in told_by[place] & free)

    heap = [(-worth(place), statements[place].size, place) for place in told_by]
    heapq.heapify(heap)
    groups: list[set[int]] = []
    while heap:
        was, size, place = heapq.heappop(heap)
        if place not in free:
            continue
        now = worth(place)
        if now and now < -was:
            heapq.heappush(heap, (-now, size, place))
        elif now:
            group = {place, *(told_by[place] & free)}
            free -= group
            groups.append(group)
    return groups


def _cluster(statements: Sequence[Statement], group: set[int], *, told_by: Mapping[int, set[int]]) -> Cluster:
    able = [place for place in group if group - {place} <= told_by.get(place, set())] or list(group)
    lead = min(able, key=lambda place: (statements[place].size, place))
    return Cluster(statements[lead], tuple(statements[place] for place in sorted(group)))
