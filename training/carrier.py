"""Tokens and starting weights from the bundled embedding model, multilingual-e5-small."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5 import BEGIN, END, UnigramTokenizer, dequantise
from ebbing.adapters.embedders.e5_weights import DIM, FEED_FORWARD, E5Weights, locate, read_weights
from ebbing.adapters.embedders.model_calls import clean

Weights = dict[str, NDArray[np.float32]]
MATRICES = (("qkv", DIM), ("out", DIM), ("up", DIM), ("down", FEED_FORWARD))
NORMS = ("attention_norm", "output_norm")
_BLOCK = 32


@cache
def weights() -> E5Weights:
    """Return the installed weights."""
    return read_weights(locate())


@cache
def tokenizer() -> UnigramTokenizer:
    """Return the tokenizer of the installed weights."""
    return UnigramTokenizer(weights().vocabulary)


@cache
def encode(text: str) -> tuple[int, ...]:
    """Return the token ids of a text, without marks."""
    return tuple(tokenizer().encode(clean(text)))


def word_vectors(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the word vectors of token ids, shape (len(ids), 384)."""
    return dequantise(weights().words[ids])


def layer_weights(number: int) -> Weights:
    """Return the tensors of one layer as 32-bit floats.

    Matrices have the shape (outputs, inputs), and beside each stands the four-bit step of its blocks, (blocks, 1).
    """
    tensors = weights().tensors
    found: Weights = {}
    for name, inputs in MATRICES:
        found[f"{name}.weight"] = _matrix(tensors, f"layer{number}_{name}", inputs)
        found[f"{name}.bias"] = np.asarray(tensors[f"layer{number}_{name}_bias"], np.float32)
        found[f"{name}.steps"] = np.asarray(tensors[f"layer{number}_{name}_scales"], np.float32).reshape(-1, 1)
    for name in NORMS:
        found[f"{name}.weight"] = np.asarray(tensors[f"layer{number}_{name}_scale"], np.float32)
        found[f"{name}.bias"] = np.asarray(tensors[f"layer{number}_{name}_bias"], np.float32)
    return found


def _matrix(tensors: dict[str, NDArray[np.generic]], name: str, inputs: int) -> NDArray[np.float32]:
    packed = np.asarray(tensors[f"{name}_weight"], np.uint8)
    scales = np.asarray(tensors[f"{name}_scales"], np.float32).reshape(*packed.shape[:2], 1)
    numbers = np.stack((packed & 15, packed >> 4), axis=-1).reshape(*packed.shape[:2], _BLOCK)
    return ((numbers.astype(np.float32) - 8.0) * scales).reshape(-1, inputs)


__all__ = ["BEGIN", "END", "MATRICES", "NORMS", "encode", "layer_weights", "tokenizer", "weights", "word_vectors"]
