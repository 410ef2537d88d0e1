"""A question asked by somebody who wants to know why these memories answered it, and why others did not."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, Final, cast

from ebbing.api.memories.context_block import ContextBlocks
from ebbing.api.memories.searches import Searches
from ebbing.results import AskAnswer, HitItem, LeftOutItem, SearchAnswer
from ebbing.validation import MAX_TOP_K, SearchOptions

BELOW_THRESHOLD: Final = "below_threshold"
NOT_SET_APART: Final = "not_set_apart"
BEYOND_LIMIT: Final = "beyond_limit"


async def ask(
    searches: Searches,
    contexts: ContextBlocks,
    *,
    query: str,
    owner: Mapping[str, str | None],
    top_k: int,
    max_tokens: int,
    options: SearchOptions,
) -> AskAnswer:
    """Search, and search again for what was left out; see `OverviewApi.ask`."""
    began = perf_counter()
    ids: dict[str, Any] = dict(owner)
    narrow: SearchOptions = {**options, "explain": True, "private": True}
    answer = await searches.search(query, **ids, include="all", top_k=top_k, **narrow)
    took = perf_counter() - began
    wide: SearchOptions = {"explain": True, "private": True, "as_of": options.get("as_of")}
    everything = await searches.search(query, **ids, include="all", top_k=MAX_TOP_K, **wide)
    made: AskAnswer = {
        "results": answer["results"],
        "left_out": _left_out(answer, everything, options=options),
        "recall_id": answer["recall_id"],
        "search_ms": round(1_000 * took, 1),
    }
    if options.get("as_of") is None:
        made["context"] = await contexts.get_context(query, **ids, max_tokens=max_tokens, top_k=top_k, private=True)
    return made


def _left_out(answer: SearchAnswer, everything: SearchAnswer, *, options: SearchOptions) -> list[LeftOutItem]:
    shown = {hit["id"] for hit in answer["results"]}
    told_by = {name for hit in answer["results"] for name in hit.get("duplicate_ids", [])}
    return [
        _left_out_item(hit, options=options)
        for hit in everything["results"]
        if hit["id"] not in shown and hit["id"] not in told_by
    ]


def _left_out_item(hit: HitItem, *, options: SearchOptions) -> LeftOutItem:
    threshold = options.get("threshold")
    if threshold is not None and hit["score"] < threshold:
        reason = BELOW_THRESHOLD
    else:
        reason = NOT_SET_APART if options.get("precise", False) else BEYOND_LIMIT
    return cast(LeftOutItem, {**hit, "reason": reason})
