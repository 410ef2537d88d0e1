"""Counts of rows, as a store answers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ebbing.domain.memory.record import Kind
from ebbing.ports.stores.memory_store import Receipt, StoreStats


def stats_of(rows: Iterable[Any], *, owners: int = 0, bytes_on_disk: int = 0, is_scrubbed: bool = True) -> StoreStats:
    """Return the counts of a tenant.

    Args:
        rows: each a kind, layer, type, whether it is deleted, the model of its vector, how many records there are of
            these, and how many of them lack a vector.
    """
    by_kind, by_layer, by_type, by_model = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    deleted = without_vector = 0
    for kind, layer, type_, is_deleted, model, count, bare in rows:
        if is_deleted:
            deleted += count
            continue
        by_kind[kind] += count
        without_vector += int(bare)
        if model is not None:
            by_model[model] += count
        if kind == Kind.MEMORY:
            by_layer[layer] += count
            by_type[type_] += count
    return StoreStats(
        owners=owners,
        memories=by_kind[Kind.MEMORY],
        episodes=by_kind[Kind.EPISODE],
        deleted=deleted,
        without_vector=without_vector,
        bytes_on_disk=bytes_on_disk,
        is_scrubbed=is_scrubbed,
        by_layer=dict(by_layer),
        by_type=dict(by_type),
        by_model=dict(by_model),
    )


def receipt_of(removed: Mapping[str, int]) -> Receipt:
    """Return the receipt of an erasure, from how many rows each of its steps removed."""
    return Receipt(
        memories=removed["memories"],
        episodes=removed["episodes"],
        history=removed["history"],
        index_entries=removed["index"],
        source_ids=removed["source"],
        uses=removed["returned"] + removed["feedback"],
        edits=removed["edits"],
        revisions=removed["revision"],
    )
