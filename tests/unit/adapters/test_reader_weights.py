"""Weights of the reader are whole numbers by column, which every processor multiplies without loss."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ebbing.adapters.embedders.e5_weights import locate, read_weights
from ebbing.adapters.readers.change_model import CHANGE_FILE_NAME, SKELETON, change_weights
from ebbing.adapters.readers.reader_weights import Tensors, by_columns, eight_bit, read_tensors, restored
from training.graph import DATA, change_skeleton, reader_skeleton

LARGEST_INPUT = 255
ZERO = 128
LIMIT = 32_767
"""Of a sum in 16 bits."""

four_bits = st.builds(
    lambda seed, shape, spread: _four_bits(np.random.default_rng(seed), shape, spread=spread),
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    st.sampled_from((0.0, 1e-3, 1.0, 1e3)),
)


def _four_bits(
    rng: np.random.Generator, shape: tuple[int, int], *, spread: float
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    packed = rng.integers(0, 256, (*shape, 16)).astype(np.uint8)
    same = rng.random(shape) < 0.2
    packed[same] = rng.choice(np.array([0x00, 0xFF, 0x0F, 0x88], np.uint8), (int(same.sum()), 1))
    scales = (rng.standard_normal(shape[0] * shape[1]) * spread).astype(np.float32)
    return packed, scales


def reader_weights() -> Tensors:
    return eight_bit(read_tensors())


def weights_of_changes() -> Tensors:
    return change_weights(read_weights(locate()).tensors, read_tensors(CHANGE_FILE_NAME))


def largest_sums(weights: NDArray[np.int8]) -> int:
    """Return the largest sum of two neighbouring products, of either sign, that some input leads to."""
    pairs = weights.astype(np.int64).reshape(-1, 2, weights.shape[1])
    above, below = np.maximum(pairs, 0).sum(axis=1), np.maximum(-pairs, 0).sum(axis=1)
    return int(LARGEST_INPUT * max(above.max(), below.max()))


def product(inputs: NDArray[np.uint8], weights: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return what onnxruntime makes of it on this processor."""
    names = ["inputs", "weights", "unit", "scales", "zero"]
    node = helper.make_node("MatMulIntegerToFloat", names, ["product"], domain="com.microsoft")
    constants = {
        "weights": weights,
        "unit": np.float32(1.0),
        "scales": np.ones(weights.shape[1], np.float32),
        "zero": np.uint8(ZERO),
    }
    graph = helper.make_graph(
        [node],
        "product",
        [helper.make_tensor_value_info("inputs", TensorProto.UINT8, inputs.shape)],
        [helper.make_tensor_value_info("product", TensorProto.FLOAT, (len(inputs), weights.shape[1]))],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    result: NDArray[np.float32] = session.run(None, {"inputs": inputs})[0]
    return result


@settings(deadline=None)
@given(four_bits)
def test_no_two_neighbouring_products_leave_16_bits(blocks: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> None:
    weights, _ = by_columns(restored(*blocks))
    assert largest_sums(weights) <= LIMIT


@settings(deadline=None)
@given(four_bits)
def test_a_weight_is_off_by_half_a_step_at_most(blocks: tuple[NDArray[np.uint8], NDArray[np.float32]]) -> None:
    weights, scales = by_columns(restored(*blocks))
    exact = restored(*blocks).T
    assert weights.shape == exact.shape
    assert (np.abs(weights * scales - exact) <= 0.501 * scales).all()
    assert np.isfinite(scales).all()


@pytest.mark.parametrize(
    ("weights", "layers"), [(reader_weights, 6), (weights_of_changes, 12)], ids=["reader", "change"]
)
def test_the_weights_of_the_package_stay_within_16_bits(weights: Callable[[], Tensors], layers: int) -> None:
    converted = weights()
    matrices = [name for name in converted if re.fullmatch(r"layer\d+_(qkv|out|up|down)_weight", name)]
    assert len(matrices) == 4 * layers
    for name in matrices:
        assert converted[name].dtype == np.int8
        assert largest_sums(converted[name].astype(np.int8)) <= LIMIT


@pytest.mark.parametrize("rows", [1, 3, 16])
@pytest.mark.parametrize("pattern", [(64, 64), (127, 1), (1, 127, 127, 1), (-64, -64), (-1, -127, -127, -1)])
def test_the_largest_sums_are_exact_on_this_processor(rows: int, pattern: tuple[int, ...]) -> None:
    weights = np.resize(np.array(pattern, np.int8), (384, 1)).repeat(40, axis=1)
    rng = np.random.default_rng(rows)
    extremes = [np.full((rows, 384), 255), np.zeros((rows, 384)), rng.choice([0, 255], (rows, 384))]
    for inputs in extremes:
        exact = (inputs.astype(np.int64) - ZERO) @ weights.astype(np.int64)
        assert (product(inputs.astype(np.uint8), weights) == exact).all()


@pytest.mark.parametrize(
    ("file_name", "skeleton"),
    [("reader_skeleton.onnx", reader_skeleton), (SKELETON, change_skeleton)],
    ids=["reader", "change"],
)
def test_the_graph_of_the_package_is_what_its_maker_makes(file_name: str, skeleton: Callable[[], bytes]) -> None:
    shipped = onnx.load_from_string((DATA / file_name).read_bytes())
    assert shipped == onnx.load_from_string(skeleton())
