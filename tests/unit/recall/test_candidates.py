"""Which rows of a large owner are scored: what looks at few rows finds what a look at all of them would."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ebbing.index.chosen_rows import ChosenRows
from ebbing.index.shard import Shard
from ebbing.language.signals.asked_for import Topic
from ebbing.recall.candidates import MAX_SPAN_ROWS, RULE_ROWS, rows_by_rule, rows_of_times
from ebbing.recall.question import NamedTimes, Question
from tests.unit.recall.conversation_log import START, Said, log, read, row_of

DRINK = Topic("drink", ("drink",), ())
MINUTE = 60_000_000
VECTOR = np.zeros(64, dtype=np.float32)


@pytest.fixture
def shard(monkeypatch: pytest.MonkeyPatch) -> Shard:
    """Rows of which the last ones came after the others were sorted."""
    monkeypatch.setattr("ebbing.index.sorted_rows.MAX_UNSORTED", 100)
    made = log(*(f"text {number}" for number in range(120)))
    made.upsert([row_of(Said(f"text {number}"), number)._replace(attribute="drink") for number in range(0, 120, 2)])
    rows_by_rule(made, replace(read(made, "tea"), topic=DRINK))
    rows_of_times(made, in_minutes(made, (0, 1)), vector=VECTOR)
    later = [row_of(Said("Please always answer in verse.", at=START), 120), row_of(Said("late"), 121)]
    made.upsert([later[0], later[1]._replace(attribute="drink")])
    return made


def in_minutes(shard: Shard, *spans: tuple[int, int]) -> Question:
    """A question that names times, in minutes after the first row."""
    first = int(shard.created[0])
    times = tuple((first + begin * MINUTE, first + end * MINUTE) for begin, end in spans)
    return replace(read(shard, "tea"), times=NamedTimes(spans=times))


def test_standing_instructions_and_the_newest_facts_that_are_asked_for_are_scored(shard: Shard) -> None:
    rows = rows_by_rule(shard, replace(read(shard, "tea"), topic=DRINK)).tolist()
    facts = np.flatnonzero(shard.attribute == shard.attributes.find("drink"))
    assert len(facts) == 61
    assert rows == [120, *facts[-RULE_ROWS:].tolist()]
    assert rows_by_rule(shard, read(shard, "tea")).tolist() == [120]


def test_what_was_said_in_one_of_the_named_times_is_scored(shard: Shard) -> None:
    rows = rows_of_times(shard, in_minutes(shard, (0, 3), (2, 5), (121, 200)), vector=VECTOR)
    assert rows is not None
    assert rows.tolist() == [0, 1, 2, 3, 4, 5, 120, 121]


def test_times_with_too_many_rows_cannot_be_answered_by_few(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ebbing.recall.candidates.MAX_SPAN_ROWS", 8)
    assert MAX_SPAN_ROWS > 8
    assert rows_of_times(shard, in_minutes(shard, (0, 9)), vector=VECTOR) is None
    assert rows_of_times(shard, in_minutes(shard, (0, 5), (20, 25)), vector=VECTOR) is None


def test_chosen_rows_know_their_memories_and_columns(shard: Shard) -> None:
    rows = np.array([3, 7, 121])
    chosen = ChosenRows(shard, rows, stands_for=np.ones(3))
    assert chosen.ids == ["m3", "m7", "m121"]
    assert chosen.id_of(2) == "m121"
    assert chosen.created.tolist() == shard.created[rows].tolist()
    assert (chosen.vectors == shard.vectors[rows]).all()
    with pytest.raises(AttributeError):
        _ = chosen.colour


def test_a_row_that_changes_while_its_owner_is_searched_is_seen_as_it_was(shard: Shard) -> None:
    chosen = ChosenRows(shard, np.array([3, 7]), stands_for=np.ones(2))
    later = shard.successor()
    later.mark_deleted([4])
    assert chosen.alive.tolist() == [True, True]
    assert not later.alive[3]
    assert later.embedded_count == shard.embedded_count - 1
