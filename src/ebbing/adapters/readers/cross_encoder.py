"""The bundled reader: a cross-encoder of a few layers, trained on labelled conversations, on onnxruntime.

It begins with the word vectors and layers of multilingual-e5-small and shares word vectors and tokenizer with the
embedder. `training/` in the repository holds its data, its recipe and its model card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5 import BEGIN, END, E5Embedder, batches, open_session
from ebbing.adapters.embedders.model_calls import clean, in_model_thread
from ebbing.adapters.readers.reader_weights import Tensors, eight_bit, read_tensors

Encode = Callable[[str], Sequence[int]]
"""Token ids of a clean text, without marks."""

FIRST_TOKENS: Final = 72
"""Of a longer message or question, its beginning and its end."""
BEFORE_TOKENS: Final = 28
"""The end of the turn before it."""
SECOND_TOKENS: Final = 56
"""The beginning of a memory."""


class ReaderInput(NamedTuple):
    """Tokens of a pair."""

    ids: list[int]
    first_length: int
    """Tokens up to the end of the first text, marks included."""


_MAX_CHARACTERS: Final = 1_200
"""Of a text; more would be cut by its tokens anyway."""
_BATCH_TOKENS: Final = 256
"""Bounds the memory of one run; small batches are also the faster ones, as they stay in the cache."""
_OUTPUT: Final = "answer"

Floats = NDArray[np.float32]


class PairLayers:
    """Runs the layers of a reader on pairs of texts: some 5 ms of CPU for a pair of 45 tokens.

    Safe to use from many threads and tasks.
    """

    def __init__(self, embedder: E5Embedder, tensors: Tensors, *, skeleton: str, threads: int = 1) -> None:
        """Take the eight-bit weights, to run beside an embedder's word vectors.

        Args:
            embedder: has word vectors and tokenizer.
            tensors: the weights by name.
            skeleton: file name of their graph in the package data.
            threads: CPU threads that one run may use.

        Raises:
            EmbeddingError: onnxruntime cannot run the graph.
        """
        self._embedder = embedder
        self._segments = tensors["segments"].astype(np.float32)
        self._tensors = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(array)
            for name, array in tensors.items()
            if name != "segments"
        }
        self._session = open_session(skeleton, self._tensors, threads=threads, keeps_buffers=True)

    def read(self, texts: Sequence[tuple[str, str, str]]) -> Floats:
        """Return the logits of "no" and "yes" for each pair, shape (len(texts), 2).

        Args:
            texts: what was said before (may be empty), the first text, the second.
        """
        encode = self._embedder.encode
        inputs = [reader_input(encode, _cleaned(three)) for three in texts]
        rows_by_place: dict[int, Floats] = {}
        for places in batches([len(each.ids) for each in inputs], max_tokens=_BATCH_TOKENS):
            rows = self._run([inputs[place] for place in places])
            rows_by_place.update(zip(places, rows, strict=True))
        return np.stack([rows_by_place[place] for place in range(len(texts))])

    def _run(self, inputs: Sequence[ReaderInput]) -> Floats:
        embedded, mask = self._embedder.look_up([each.ids for each in inputs])
        first = np.zeros_like(mask)
        for row, each in enumerate(inputs):
            first[row, : each.first_length] = 1.0
        second = mask - first
        embedded += self._segments[second.astype(np.int64)]
        inputs_by_name = {"embedded": embedded, "mask": mask, "first": first, "second": second}
        rows: Floats = self._session.run([_OUTPUT], inputs_by_name)[0]
        return rows


class CrossEncoderReader:
    """Judges questions and memories. Safe to use from many threads and tasks."""

    def __init__(self, embedder: E5Embedder, *, threads: int = 1) -> None:
        """Load the bundled weights beside an embedder: some 100 ms, blocking.

        Raises:
            EmbeddingError: the package data is missing, or onnxruntime cannot run it.
        """
        tensors = eight_bit(read_tensors())
        self.version = str(tensors.pop("version"))
        self._layers = PairLayers(embedder, tensors, skeleton="reader_skeleton.onnx", threads=threads)

    async def answers(self, question: str, memories: Sequence[str], *, before: str = "") -> list[float]:
        """Return the probability that each memory answers the question; see `Reader`."""
        if not memories:
            return []
        texts = [(before, question, memory) for memory in memories]
        logits = await in_model_thread(partial(self._layers.read, texts), line="query")
        answers: list[float] = _shares(logits)[:, 1].tolist()
        return answers

    def read(self, texts: Sequence[tuple[str, str, str]]) -> Floats:
        """Return the logits of "no" and "yes" for each pair, shape (len(texts), 2).

        Args:
            texts: the turn before (may be empty), the question, the memory.
        """
        return self._layers.read(texts)


def _cleaned(texts: tuple[str, str, str]) -> tuple[str, str, str]:
    """Return the texts without what their tokens would lose anyway: all but an end, but both ends, but a beginning."""
    before, first, second = texts
    if len(first) > _MAX_CHARACTERS:
        first = f"{first[: _MAX_CHARACTERS // 2]} {first[-_MAX_CHARACTERS // 2 :]}"
    return clean(before[-_MAX_CHARACTERS:]), clean(first), clean(second, _MAX_CHARACTERS)


def _shares(logits: Floats) -> Floats:
    """Softmax along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def reader_input(encode: Encode, texts: tuple[str, str, str]) -> ReaderInput:
    """Return the tokens of a pair: `<s> query: before </s> first </s></s> second </s>`.

    Args:
        encode: the tokenizer.
        texts: what was said before (may be empty), the first text, the second text.
    """
    before, first, second = texts
    earlier = list(encode(before))[-BEFORE_TOKENS:] if before else []
    middle = list(encode(first))
    if len(middle) > FIRST_TOKENS:
        middle = middle[: FIRST_TOKENS // 2] + middle[-FIRST_TOKENS // 2 :]
    left = [BEGIN, *encode("query:"), *earlier, *([END] if earlier else []), *middle, END]
    return ReaderInput([*left, END, *list(encode(second))[:SECOND_TOKENS], END], len(left))
