"""The inverted index of one owner: built in any portions, it answers as if built at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import FIELD_DATE, FIELD_SPEAKER, TERM, entry_for, pack, passage, term_hash
from ebbing.index.postings import MERGE_RATIO, TAIL_ROWS, Postings, _stable_order
from ebbing.language.text.analyzer import Analysis
from ebbing.testing.clock import ManualClock

A, B, C = 11, 1 << 40, (1 << 64) - 1


def packed(*terms: tuple[int, int, int]) -> bytes:
    return np.array(sorted(terms), dtype=TERM).tobytes()


def answer(postings: Postings, *terms: int) -> list[tuple[int, int, int, int]]:
    """(position of the term, row, frequency, fields) of everything found, sorted."""
    found = postings.find(np.array(terms, dtype=np.uint64))
    columns = (found.term.tolist(), found.rows.tolist(), found.tf.tolist(), found.fields.tolist())
    return sorted(zip(*columns, strict=True))


def test_a_term_is_found_with_its_rows_frequencies_and_fields() -> None:
    postings = Postings().extended([packed((A, 2, 0), (C, 1, FIELD_DATE)), b"", packed((A, 0, FIELD_SPEAKER))])
    assert answer(postings, A, C) == [(0, 0, 2, 0), (0, 2, 0, FIELD_SPEAKER), (1, 0, 1, FIELD_DATE)]
    assert postings.document_count(np.array([C, A, B], dtype=np.uint64)).tolist() == [1, 2, 0]
    assert postings.rows == 3


def test_an_empty_index_holds_nothing() -> None:
    assert answer(Postings(), A) == []
    assert answer(Postings().extended([]), A) == []
    assert answer(Postings().extended([b""]), A) == []
    assert answer(Postings().extended([packed((A, 1, 0))])) == []
    assert Postings().document_count(np.array([A], dtype=np.uint64)).tolist() == [0]


def test_an_extended_index_leaves_the_old_one_as_it_was() -> None:
    old = Postings().extended([packed((A, 1, 0))])
    new = old.extended([packed((A, 3, 0), (B, 1, 0))])
    assert answer(old, A, B) == [(0, 0, 1, 0)]
    assert answer(new, A, B) == [(0, 0, 1, 0), (0, 1, 3, 0), (1, 1, 1, 0)]


def test_the_terms_of_a_row_are_those_it_was_given() -> None:
    lists = [packed((number, 1, 0), (A + number, 2, 0)) for number in range(20, TAIL_ROWS + 50)]
    postings = Postings().extended(lists[:TAIL_ROWS]).extended(lists[TAIL_ROWS:])
    assert [postings.terms_of(row).tobytes() for row in range(len(lists))] == lists
    with pytest.raises(IndexError):
        postings.terms_of(len(lists))


def test_many_small_extensions_keep_few_segments() -> None:
    postings = Postings()
    for number in range(4 * TAIL_ROWS):
        postings = postings.extended([packed((A, 1, 0), (number + 100, 1, 0))])
        assert len(postings._segments) <= 2
    assert [row for _, row, _, _ in answer(postings, A)] == list(range(4 * TAIL_ROWS))
    assert postings.nbytes > 2 * 4 * TAIL_ROWS * TERM.itemsize


def test_a_write_to_a_large_index_merges_the_last_rows_alone() -> None:
    terms = [packed((A, 1, 0))] * TAIL_ROWS
    postings = Postings().extended(terms * (2 * MERGE_RATIO))
    sizes = []
    for _ in range(2 * MERGE_RATIO):
        postings = postings.extended(terms)
        sizes.append([segment.count // TAIL_ROWS for segment in postings._segments])
    assert sizes[:4] == [[16, 1], [16, 2], [19], [19, 1]]
    assert postings.rows == 4 * MERGE_RATIO * TAIL_ROWS


def test_hashes_that_differ_in_their_lowest_bits_alone_keep_their_order() -> None:
    hashes = np.array([7, 6, 7, 5, 6, 4, 1 << 63, (1 << 63) + 1, 1 << 63], dtype=np.uint64)
    assert _stable_order(hashes).tolist() == np.argsort(hashes, kind="stable").tolist()


def test_a_term_that_occurs_very_often_keeps_the_largest_count() -> None:
    [row] = pack(Analysis(text={"tea": 70_000}, length=70_000))
    assert row["tf"] == 65_535


def test_speaker_and_date_are_fields_of_the_same_term() -> None:
    analysis = Analysis(text={"may": 2}, length=2, speaker={"may", "ada"}, date={"may"})
    terms = {int(row["term"]): (int(row["tf"]), int(row["fields"])) for row in pack(analysis)}
    assert terms == {term_hash("may"): (2, FIELD_SPEAKER | FIELD_DATE), term_hash("ada"): (0, FIELD_SPEAKER)}


def test_what_is_read_of_a_record_names_its_speaker() -> None:
    now = ManualClock().now()
    record = MemoryRecord(
        id="1", belongs_to=Scope(user_id="ada"), content="I like tea", created_at=now, recorded_at=now
    )
    assert passage(record) == "I like tea"
    assert passage(replace(record, actor="Lin")) == "Lin: I like tea"


def test_a_vector_of_zeros_is_no_vector() -> None:
    entry = entry_for(Analysis(text={}, length=0), vector=np.zeros(4, dtype=np.float32), model_id="m")
    assert (entry.vector, entry.model_id) == (None, None)


def test_texts_with_other_numbers_have_other_digests() -> None:
    digests = {
        entry_for(Analysis(text={}, length=0, numbers=frozenset(numbers))).numbers
        for numbers in ((), ("1",), ("2",), ("1", "2"), ("12",))
    }
    assert len(digests) == 5
    assert 0 in digests
