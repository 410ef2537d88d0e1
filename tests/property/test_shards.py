"""However rows arrive, a shard ends up the same."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import TERM
from ebbing.index.postings import Postings, _stable_order
from ebbing.index.record_row import row_for
from ebbing.index.row import Row
from ebbing.index.shard import Shard

_TERMS = st.integers(0, 30) | st.integers(0, 2**64 - 1)
_LISTS = st.lists(
    st.dictionaries(_TERMS, st.tuples(st.integers(0, 65535), st.integers(0, 3)), max_size=6).map(
        lambda terms: np.array([(term, *rest) for term, rest in sorted(terms.items())], dtype=TERM).tobytes()
    ),
    max_size=40,
)


@st.composite
def cut(draw: st.DrawFn) -> tuple[list[bytes], list[list[bytes]]]:
    """Term lists, whole and in portions."""
    lists = draw(_LISTS) * draw(st.sampled_from([1, 1, 1, 20]))
    ends = sorted({0, len(lists), *draw(st.lists(st.integers(0, len(lists)), max_size=6))})
    return lists, [lists[start:end] for start, end in pairwise(ends)]


def everything(postings: Postings, terms: list[int]) -> list[tuple[int, ...]]:
    found = postings.find(np.array(terms, dtype=np.uint64))
    return sorted(zip(*(column.tolist() for column in (found.term, found.rows, found.tf, found.fields)), strict=True))


@given(given_lists=cut())
def test_an_index_built_in_portions_answers_like_one_built_at_once(
    given_lists: tuple[list[bytes], list[list[bytes]]],
) -> None:
    lists, portions = given_lists
    grown = Postings()
    for portion in portions:
        grown = grown.extended(portion)
    whole = Postings().extended(lists)
    decoded = [np.frombuffer(packed, dtype=TERM).tolist() for packed in lists]
    terms = sorted({term for row in decoded for term, _, _ in row} | {5, 2**63})
    expected = sorted(
        (terms.index(term), row, tf, fields) for row, held in enumerate(decoded) for term, tf, fields in held
    )
    assert everything(grown, terms) == everything(whole, terms) == expected
    asked = np.array(terms, dtype=np.uint64)
    assert grown.document_count(asked).tolist() == [
        sum(at == position for at, *_ in expected) for position in range(len(terms))
    ]
    assert [grown.terms_of(row).tobytes() for row in range(grown.rows)] == lists


@given(hashes=st.lists(st.integers(0, 7) | st.integers(2**63, 2**63 + 3) | st.integers(0, 2**64 - 1)))
def test_the_fast_order_is_the_stable_order(hashes: list[int]) -> None:
    array = np.array(hashes, dtype=np.uint64)
    assert _stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


NOW = datetime(2024, 1, 1, tzinfo=UTC)


def a_row(seq: int, version: int) -> Row:
    scope = Scope(user_id="ada", agent_id=f"agent{version % 2}")
    record = MemoryRecord(f"id{seq}", scope, f"text {version}", NOW, NOW, strength=version / 10)
    terms = np.array([(seq, version + 1, 0), (1000 + version, 1, 0)], dtype=TERM).tobytes()
    vector = np.array([seq % 7, version], dtype="<f2").tobytes() if (seq + version) % 3 else None
    row = row_for(seq, record, entry=None)._replace(terms=terms, vector=vector, model_id="m" if vector else None)
    return row._replace(created=version, length=2 + version)


_STEPS = st.lists(
    st.tuples(st.sampled_from(["new", "change", "drop"]), st.integers(1, 12), st.integers(0, 4)), max_size=40
)


@given(steps=_STEPS)
def test_a_shard_that_followed_every_change_equals_one_loaded_afterwards(
    steps: list[tuple[str, int, int]],
) -> None:
    followed = Shard(model_id="m", dim=2)
    rows: dict[int, Row | None] = {}
    for what, number, version in steps:
        held, seen = followed, seen_by(followed)
        followed = followed.successor()
        seq = len(rows) + 1 if what == "new" else number
        if what == "drop":
            followed.mark_deleted([seq])
            rows.update({seq: None} if seq in rows else {})
        elif what == "new" or rows.get(seq):
            rows[seq] = a_row(seq, version)
            followed.upsert([a_row(seq, version)])
        assert seen_by(held) == seen
        assert rows_from(followed, 2) == np.flatnonzero(followed.created >= 2).tolist()
    loaded = Shard(model_id="m", dim=2)
    loaded.upsert([row for row in rows.values() if row])
    assert living(followed) == living(loaded)
    counts, expected = followed.corpus_stats, loaded.corpus_stats
    assert (counts.living, counts.mean_length) == (expected.living, expected.mean_length)
    assert counts.all_alive == bool(followed.alive.all())
    assert followed.embedded_count == loaded.embedded_count


def rows_from(shard: Shard, created: int) -> list[int]:
    """The rows created at a time or later."""
    by_time = shard.sorted_rows("created", lambda first: shard.created[first:])
    rows = by_time.between(created, 99, later=shard.created[by_time.count :], limit=1_000)
    assert rows is not None
    return rows.tolist()


def seen_by(shard: Shard) -> tuple[int, list[bool], int]:
    return shard.size, shard.alive.tolist(), shard.postings.rows


def living(shard: Shard) -> list[tuple[object, ...]]:
    """Everything that a search can see of the living rows, by seq."""
    found = [
        (
            int(shard.seq[at]),
            shard.ids[at],
            shard.agents.name(int(shard.agent[at])),
            float(shard.strength[at]),
            int(shard.digest[at]),
            bool(shard.embedded[at]),
            shard.vectors[at].tolist(),
            shard.postings.terms_of(at).tobytes(),
        )
        for at in np.flatnonzero(shard.alive).tolist()
    ]
    return sorted(found)
