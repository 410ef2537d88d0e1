"""One owner's rows in RAM: what comes in, what is rewritten, what a reader keeps seeing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, entry_for
from ebbing.index.record_row import row_for
from ebbing.index.row import Row
from ebbing.index.shard import (
    ALWAYS,
    KINDS,
    LAYERS,
    MAX_CACHED_RECORDS,
    NEVER,
    RECORDS_READ,
    ROLES,
    TYPES,
    Shard,
    digest,
    micros,
    moment,
)
from ebbing.language.text.analyzer import analyse

NOW = datetime(2024, 5, 8, 12, tzinfo=UTC)
DIM = 4


def record(text: str, **fields: object) -> MemoryRecord:
    values = {"id": text, "belongs_to": Scope(user_id="ada"), "created_at": NOW, "recorded_at": NOW, **fields}
    return MemoryRecord(content=text, **values)  # type: ignore[arg-type]


def entry(text: str, *, model_id: str = "m", dim: int = DIM) -> IndexEntry:
    vector = np.full(dim, 1 / np.sqrt(dim), dtype=np.float32)
    return entry_for(analyse(text, said_at=NOW), vector=vector, model_id=model_id)


def row(seq: int, text: str, **fields: object) -> Row:
    return row_for(seq, record(text, **fields), entry=entry(text))


def shard(*rows: Row) -> Shard:
    made = Shard(model_id="m", dim=DIM)
    made.upsert(rows)
    return made


def test_a_row_becomes_columns() -> None:
    made = shard(
        row(
            7,
            "tea",
            belongs_to=Scope(user_id="ada", agent_id="guide", run_id="monday"),
            kind=Kind.EPISODE,
            role=Role.TOOL,
            type=MemoryType.FACT,
            layer=Layer.LONG_TERM,
            actor="Ada",
            valid_from=NOW,
            importance=0.25,
            strength=0.5,
        )
    )
    assert (made.ids, made.seq[0], made.last_seq, made.size) == (["tea"], 7, 7, 1)
    assert (KINDS[made.kind[0]], ROLES[made.role[0]]) == (Kind.EPISODE, Role.TOOL)
    assert (TYPES[made.type[0]], LAYERS[made.layer[0]]) == (MemoryType.FACT, Layer.LONG_TERM)
    assert (made.agents.name(made.agent[0]), made.runs.name(made.run[0])) == ("guide", "monday")
    assert made.actors.find("Ada") == made.actor[0]
    assert (made.valid_from[0], made.valid_to[0], made.expires[0]) == (micros(NOW), NEVER, NEVER)
    assert (made.importance[0], made.strength[0], made.alive[0]) == (0.25, 0.5, True)
    assert made.digest[0] == digest(record("tea").hash)


def test_missing_values_have_a_meaning() -> None:
    made = shard(row_for(1, record("tea"), entry=None))
    assert (made.role[0], made.agent[0], made.valid_from[0], made.length[0]) == (0, 0, ALWAYS, 0)
    assert (made.embedded[0], made.vectors.any()) == (False, False)
    assert made.agents.find("nobody") == -1
    assert list(made.runs.items()) == []


@pytest.mark.parametrize(
    ("model_id", "dim"),
    [("m", 0), (None, DIM), ("another", DIM), (None, 0)],
    ids=["no dimensions", "no model", "another model", "neither"],
)
def test_a_vector_that_does_not_fit_does_not_count(model_id: str | None, dim: int) -> None:
    made = Shard(model_id=model_id, dim=dim)
    made.upsert([row(1, "tea"), row(2, "rain")])
    assert not made.embedded.any()
    assert made.vectors.shape == (2, dim)


def test_an_unknown_column_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = shard().nothing


def test_a_rewritten_text_moves_to_the_end() -> None:
    made = shard(row(1, "tea"), row(2, "rain"))
    made.upsert([row(1, "coffee", id="tea")])
    assert (made.ids, list(made.alive)) == (["tea", "rain", "tea"], [False, True, True])
    assert (made.last_seq, list(made.seq)) == (2, [1, 2, 1])
    made.upsert([row(1, "milk", id="tea")])
    assert list(made.alive) == [False, True, False, True]


@pytest.mark.parametrize("change", ["speaker", "vector", "model", "nothing left"])
def test_a_row_whose_entry_changed_is_not_overwritten_in_place(change: str) -> None:
    old, text = row(1, "tea"), record("tea")
    new = {
        "speaker": row_for(
            1, text, entry=entry_for(analyse("tea", speaker="Ada"), vector=np.full(DIM, 0.5, np.float32), model_id="m")
        ),
        "vector": old._replace(vector=np.array([1, 0, 0, 0], "<f2").tobytes()),
        "model": old._replace(model_id="another"),
        "nothing left": row_for(1, text, entry=None),
    }[change]
    made = shard(old)
    made.upsert([new])
    assert (made.size, list(made.alive)) == (2, [False, True])
    assert made.postings.terms_of(1).tobytes() == (new.terms or b"")
    assert made.embedded[1] == (change in {"speaker", "vector"})


def test_a_row_with_the_same_entry_is_overwritten_in_place() -> None:
    made = shard(row(1, "tea"), row(2, "rain"))
    before = made.vectors.copy()
    made.upsert([row(2, "rain", strength=0.25, valid_to=NOW)])
    assert (made.size, made.strength[1], made.valid_to[1]) == (2, 0.25, micros(NOW))
    assert (made.vectors == before).all()


def test_a_dropped_row_is_gone_until_it_is_put_again() -> None:
    made = shard(row(1, "tea"), row(2, "rain"))
    made.mark_deleted([1, 99])
    assert list(made.alive) == [False, True]
    made.upsert([row(1, "tea")])
    assert (made.size, list(made.alive)) == (2, [True, True])


def test_a_successor_leaves_its_predecessor_as_it_was() -> None:
    held = shard(row(1, "tea"), row(2, "rain"))
    now = held
    for number in range(3, 200):
        now = now.successor()
        now.upsert([row(number, f"text {number}")])
        now.mark_deleted([1])
        now.generation = number
    assert (held.size, len(held.vectors), held.postings.rows, list(held.alive)) == (2, 2, 2, [True, True])
    assert (held.generation, held.last_seq) == (-1, 2)
    assert (now.size, now.postings.rows, int(now.alive.sum()), now.last_seq) == (199, 199, 198, 199)
    assert now.nbytes > held.nbytes


def test_what_a_successor_is_told_of_known_rows_is_not_seen_through_its_predecessor() -> None:
    held = shard(row(1, "tea"), row(2, "rain"))
    now = held.successor()
    now.upsert([row(2, "rain", deleted_at=NOW), row(3, "snow")])
    assert (list(held.alive), list(held.deleted)) == ([True, True], [NEVER, NEVER])
    assert (list(now.alive), list(now.deleted)) == ([True, False, True], [NEVER, micros(NOW), NEVER])


def test_a_large_shard_is_loaded_with_room_for_more_which_takes_no_ram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ebbing.index.shard.SPARE_FROM", 2)
    made = shard(row(1, "tea"), row(2, "rain"))
    small = made.nbytes
    vectors = made._vectors
    made.upsert([row(3, "snow")])
    assert made._vectors is vectors
    assert len(vectors) > made.size - 1
    assert made.nbytes - small < 2 * small


def test_rows_are_sorted_again_when_many_were_added_or_a_value_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ebbing.index.sorted_rows.MAX_UNSORTED", 2)
    made = shard(row(1, "tea", attribute="drink"), row(2, "rain"), row(3, "sun"))

    def drinks() -> tuple[int, list[int]]:
        rows = made.sorted_rows("attribute", lambda first: made.attribute[first:])
        found = rows.newest(made.attributes.find("drink"), later=made.attribute[rows.count :], count=2)
        return rows.count, found.tolist()

    assert drinks() == (3, [0])
    made.upsert([row(4, "milk", attribute="drink"), row(5, "fog")])
    assert drinks() == (3, [0, 3])
    made.upsert([row(6, "juice", attribute="drink")])
    assert drinks() == (6, [3, 5])
    made.upsert([row(2, "rain", attribute="drink"), row(6, "juice")])
    assert drinks() == (6, [1, 3])


@pytest.mark.parametrize(
    ("count", "for_a_filter", "left"),
    [
        (MAX_CACHED_RECORDS, False, MAX_CACHED_RECORDS),
        (MAX_CACHED_RECORDS + 1, False, 0),
        (MAX_CACHED_RECORDS + 1, True, MAX_CACHED_RECORDS + 1),
    ],
)
def test_many_records_that_were_read_are_left_behind_unless_a_filter_needs_them(
    count: int, for_a_filter: bool, left: int
) -> None:
    held = shard(row(1, "tea"))
    held.records = {str(number): record(str(number)) for number in range(count)}
    if for_a_filter:
        held.cached(RECORDS_READ, lambda: np.zeros(held.size, dtype=np.bool_))
    assert len(held.successor().records) == left


def test_vectors_rest_in_half_precision() -> None:
    made = shard(row(1, "tea"))
    assert made.vectors.dtype == np.float32
    assert np.abs(made.vectors[0] - 0.5).max() < 1e-3


@pytest.mark.parametrize(
    "time",
    [
        NOW,
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
    ],
)
def test_microseconds_are_exact_in_both_directions(time: datetime) -> None:
    assert moment(micros(time)) == time


def test_microseconds_do_not_depend_on_the_zone() -> None:
    assert micros(NOW.astimezone(timezone(timedelta(hours=8)))) == micros(NOW)
