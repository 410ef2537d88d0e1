"""Beliefs of PrecisionMemBench in the product, and in the baselines that answer without a cut-off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbing.ports.models.embedder import Embedder
from evals.baselines import BM25, Scores, ranked, reciprocal_rank_fusion
from evals.embedding import passage_vectors, question_vectors
from evals.precision import Belief, interleaved


def named_text(belief: Belief) -> str:
    """Name, other names and statement: `react (ReactJS, react.js): Frontend is React 18 …`."""
    aliases = f" ({', '.join(belief['aliases'])})" if belief["aliases"] else ""
    return f"{belief['canonical_name'].replace('_', ' ')}{aliases}: {belief['content']}"


def is_current(belief: Belief) -> bool:
    """Neither superseded by another belief nor resolved."""
    return not belief["superseded_by"] and not belief["resolved_at"]


class BeliefsInEbbing:
    """One memory a belief: its user is the user, its scope the run, its names and flags the metadata.

    A superseded or resolved belief is stored and then closed with its reason, as a host would do that learned of it.
    """

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._beliefs: dict[str, Belief] = {}
        self._memory_ids: dict[str, str] = {}

    def put(self, belief: Belief) -> None:
        """Store a belief, or replace the one with its id."""
        name, text, metadata = belief["_id"], named_text(belief), _metadata(belief)
        self._beliefs[name] = belief
        if name in self._memory_ids:
            self._memory.update(self._memory_ids[name], text, metadata=metadata)
            return
        message = {"role": "user", "content": text, "id": name, "timestamp": belief["created_at"]}
        (scope,) = belief["scope"]
        added = self._memory.add(message, user_id=belief["user_id"], run_id=scope, metadata=metadata, infer=False)
        self._memory_ids[name] = added["results"][0]["id"]
        if not is_current(belief):
            reason = f"superseded by {belief['superseded_by']}" if belief["superseded_by"] else "resolved"
            self._memory.delete(self._memory_ids[name], reason=reason)

    def search(self, query: str, *, user: str, scopes: Sequence[str], limit: int) -> list[str]:
        """One search a scope, taken in turns."""
        found = (self._memory.search(query, user_id=user, run_id=scope, top_k=limit, precise=True) for scope in scopes)
        return interleaved([[hit["metadata"]["belief"] for hit in answer["results"]] for answer in found])

    def held(self, *, user: str, scopes: Sequence[str]) -> list[Belief]:
        """What the memory lists, newest first."""
        listed = (self._memory.get_all(user_id=user, run_id=scope, limit=1000) for scope in scopes)
        return [self._beliefs[item["metadata"]["belief"]] for answer in listed for item in answer["results"]]


class RankedBeliefs:
    """A baseline: the best `limit` beliefs of the scope, however little they fit."""

    def __init__(self, score: Callable[[list[str], str], Scores]) -> None:
        self._score = score
        self._beliefs: dict[str, Belief] = {}

    def put(self, belief: Belief) -> None:
        """Store a belief, or replace the one with its id."""
        if is_current(belief):
            self._beliefs[belief["_id"]] = belief

    def search(self, query: str, *, user: str, scopes: Sequence[str], limit: int) -> list[str]:
        """Everything that matches at all, best first."""
        beliefs = self.held(user=user, scopes=scopes)
        if not beliefs:
            return []
        scores = self._score([named_text(belief) for belief in beliefs], query)
        return [ids[0] for ids in map(list, ranked(scores, [belief["_id"] for belief in beliefs], depth=limit))]

    def held(self, *, user: str, scopes: Sequence[str]) -> list[Belief]:
        """The current beliefs of a user in these scopes."""
        return [
            belief
            for belief in self._beliefs.values()
            if belief["user_id"] == user and set(belief["scope"]) & set(scopes)
        ]


def baseline_stores(embedder: Embedder) -> dict[str, RankedBeliefs]:
    """BM25 alone, the embedder alone, and both by reciprocal rank."""

    def words(texts: list[str], query: str) -> Scores:
        return BM25(texts).scores(query)

    def meaning(texts: list[str], query: str) -> Scores:
        return passage_vectors(embedder, texts).astype(np.float64) @ question_vectors(embedder, [query])[0] + 2.0

    def both(texts: list[str], query: str) -> Scores:
        return reciprocal_rank_fusion([words(texts, query), meaning(texts, query)])

    return {"BM25": RankedBeliefs(words), "embedder": RankedBeliefs(meaning), "RRF(60)": RankedBeliefs(both)}


def _metadata(belief: Belief) -> dict[str, Any]:
    return {
        "belief": belief["_id"],
        "type": belief["type"],
        "aliases": belief["aliases"],
        "pinned": belief["pinned"],
        "why_it_matters": belief["why_it_matters"],
    }
