"""The order in which rows are written to a graph: near ones together, after some from everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from ebbing.index.near_rows import side_by_side

GROUPS, DIM = 20, 16


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of groups that lie far apart, and the group of each."""
    random = np.random.default_rng(3)
    groups = random.integers(0, GROUPS, count)
    centres = 4 * random.standard_normal((GROUPS, DIM), np.float32)
    return centres[groups] + random.standard_normal((count, DIM), np.float32), groups


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 249, 5_001])
def test_every_row_is_written_once(count: int) -> None:
    vectors, _ = drawn(count + 3)
    rows = np.arange(3, count + 3)
    assert sorted(side_by_side(vectors, rows).tolist()) == rows.tolist()


def test_near_rows_follow_one_another() -> None:
    vectors, groups = drawn(5_000)
    order = side_by_side(vectors, np.arange(5_000))
    written = groups[order[500:]]
    assert np.mean(written[1:] == written[:-1]) > 0.5
    assert np.mean(groups[1:] == groups[:-1]) < 0.1


def test_a_tenth_from_everywhere_is_written_first() -> None:
    vectors, _ = drawn(1_000)
    assert side_by_side(vectors, np.arange(1_000))[:100].tolist() == list(range(0, 1_000, 10))
