"""Products in pieces: as many numbers as in one go, and the same ones."""

from __future__ import annotations

import numpy as np
import pytest

from ebbing.index import near_rows as products


@pytest.mark.parametrize("rows", [0, 1, 26, 27, 700])
def test_a_product_in_pieces_is_the_whole_product(rows: int) -> None:
    random = np.random.default_rng(rows)
    matrix, others = random.standard_normal((rows, 384), np.float32), random.standard_normal((60, 384), np.float32)
    np.testing.assert_allclose(products.between(matrix, others), matrix @ others.T, atol=1e-4)
    np.testing.assert_allclose(products.between(others, matrix), others @ matrix.T, atol=1e-4)
    np.testing.assert_allclose(products.along(matrix, others[0]), matrix @ others[0], atol=1e-4)


def test_vectors_of_no_length_have_products_of_zero() -> None:
    nothing = np.zeros((3, 0), np.float32)
    assert not products.between(nothing, nothing).any()
    assert not products.along(nothing, nothing[0]).any()
