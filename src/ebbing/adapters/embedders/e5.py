"""multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672), 4-bit, run on onnxruntime. No network, no compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5_centring import TOKENS_FILE_NAME, Centring, Role, unit
from ebbing.adapters.embedders.e5_tokenizer import BEGIN, END, PAD, UnigramTokenizer
from ebbing.adapters.embedders.e5_weights import DIM, MAX_TOKENS, E5Weights, dequantise, locate, read_weights
from ebbing.adapters.embedders.embedding_text import clean
from ebbing.adapters.embedders.embedding_thread import PARALLEL_RUNS, in_model_thread
from ebbing.domain.errors import EmbeddingError
from ebbing.ports.embedder import Calibration, Vectors

MAX_WINDOWS = 4
"""A text of more windows (of at most 512 tokens) is represented by four of them, spread evenly over it."""
BATCH_TOKENS = 256
"""Bounds the memory of one run; small batches are also the faster ones, as they stay in the cache."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of one text that fits the model."""

    text: int
    """Place of the text in the call."""
    ids: list[int]


class E5Embedder:
    """384-d vectors for some hundred languages, centred per language and role.

    Text is sanitised and cut to 16,000 characters; what is longer than 512 tokens is embedded in windows of equal
    length (at most four), whose mean vectors are averaged by tokens. About 10 ms of CPU for a sentence, 60 ms for 130
    tokens, 1.5 s at most for the longest text. Safe to use from many threads and tasks.
    """

    model_id = "multilingual-e5-small-q4/2"
    dim = DIM
    parallel_runs = PARALLEL_RUNS
    calibration = Calibration(unrelated=0.18, related=0.48, paraphrase=0.84, same=0.95)

    def __init__(self, weights: E5Weights, *, threads: int = 1, centring: Centring | None) -> None:
        self._tokenizer = UnigramTokenizer(weights.vocabulary)
        self._words = weights.words
        self._positions = weights.positions
        self._centring = centring
        self._token_centring = Centring.load(TOKENS_FILE_NAME) if centring is not None else None
        # Whoever asks for the tokens of questions asks after embedding them: from then on one run serves both.
        self._keeps_question = False
        self._question: tuple[str | None, Vectors] = (None, np.zeros((0, DIM), np.float32))
        self._prefix: dict[Role, list[int]] = {
            "query": [BEGIN, *self._tokenizer.encode("query:")],
            "passage": [BEGIN, *self._tokenizer.encode("passage:")],
        }
        # The session reads some of these buffers in place: they live as long as it does.
        self._tensors = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.tensors.items()
        }
        self._session = open_session("e5_skeleton.onnx", self._tensors, threads=threads)

    @classmethod
    def load(cls, *, threads: int = 1, centred: bool = True) -> E5Embedder:
        """Read the installed weights and build the model: about half a second of CPU, blocking.

        Args:
            threads: CPU threads that one run may use.
            centred: False gives the model's raw vectors (for measuring only: `model_id` means the centred ones).

        Raises:
            ImportError: the package that carries the weights is not installed.
            EmbeddingError: the weights are not the known file, or onnxruntime cannot run them.
        """
        weights = read_weights(locate())
        return cls(weights, threads=threads, centring=Centring.load() if centred else None)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors for questions, shape (len(texts), 384)."""
        return await in_model_thread(partial(self.embed, texts, "query"), line="query")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors for what is stored, shape (len(texts), 384)."""
        return await in_model_thread(partial(self.embed, texts, "passage"), line="passage")

    async def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Unit vectors of each text's own tokens (first window only), shapes (tokens, 384): for late interaction.

        Centred like the vectors of whole texts, unless the embedder is not.
        """
        return await in_model_thread(partial(self._token_vectors, texts, role), line="query")

    def token_pieces(self, text: str, role: Role) -> list[tuple[int, str]]:
        """Id and spelling of each token that `token_vectors` has a row for; "▁" marks the beginning of a word."""
        windows = list(self._windows(clean(text), role))[:1]
        return [
            (number, self._tokenizer.piece(number)) for ids in windows for number in ids[len(self._prefix[role]) : -1]
        ]

    @property
    def words(self) -> NDArray[np.uint8]:
        """Word vectors as four-bit blocks, shape (vocabulary, 12, 18): `dequantise` makes numbers of rows."""
        return self._words

    @property
    def positions(self) -> NDArray[np.float32]:
        """Position vectors, shape (512, 384)."""
        return self._positions

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a clean text, without marks."""
        return self._tokenizer.encode(text)

    async def aclose(self) -> None:
        """Nothing to close: the memory goes with the object."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """The blocking form of `embed_queries` and `embed_passages`."""
        cleaned = [clean(text) for text in texts]
        windows = [_Window(place, ids) for place, text in enumerate(cleaned) for ids in self._windows(text, role)]
        vectors = np.zeros((len(texts), DIM), np.float32)
        keep = self._keeps_question and role == "query" and len(texts) == len(windows) == 1
        for batch in _batches(windows):
            means, *hidden = self._run(["mean", "tokens"] if keep else ["mean"], batch)
            if keep:
                self._question = (texts[0], self._own_tokens(hidden[0][0], batch[0], text=cleaned[0], role=role))
            for window, mean in zip(batch, means, strict=True):
                vectors[window.text] += mean * len(window.ids)
        vectors = unit(vectors)
        blank = [not text for text in cleaned]
        if self._centring is not None:
            vectors = self._centring.apply(vectors, cleaned, role=role)
        vectors[blank] = 0.0
        return vectors

    def _token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        if role == "query" and len(texts) == 1:
            self._keeps_question = True
            text, vectors = self._question
            if text == texts[0]:
                return [vectors]
        vectors_by_text: list[Vectors] = [np.zeros((0, DIM), np.float32)] * len(texts)
        cleaned = [clean(text) for text in texts]
        windows = [
            _Window(place, ids) for place, text in enumerate(cleaned) for ids in list(self._windows(text, role))[:1]
        ]
        for batch in _batches(windows):
            (hidden,) = self._run(["tokens"], batch)
            for window, rows in zip(batch, hidden, strict=True):
                vectors_by_text[window.text] = self._own_tokens(rows, window, text=cleaned[window.text], role=role)
        return vectors_by_text

    def _own_tokens(self, rows: NDArray[np.float32], window: _Window, *, text: str, role: Role) -> Vectors:
        """The rows of the window's own tokens, without marks and prefix, as centred unit vectors."""
        vectors = unit(rows[len(self._prefix[role]) : len(window.ids) - 1])
        return vectors if self._token_centring is None else self._token_centring.apply(vectors, [text], role=role)

    def _windows(self, text: str, role: Role) -> Iterator[list[int]]:
        """Token ids of the text's windows, with marks and prefix; none for a blank text."""
        prefix = self._prefix[role]
        ids = self._tokenizer.encode(text)
        count = -(-len(ids) // (MAX_TOKENS - len(prefix) - 1))
        step = -(-len(ids) // max(count, 1))
        chosen = range(count) if count <= MAX_WINDOWS else np.linspace(0, count - 1, MAX_WINDOWS).round().astype(int)
        for number in chosen:
            yield [*prefix, *ids[number * step : (number + 1) * step], END]

    def _run(self, outputs: list[str], batch: Sequence[_Window]) -> list[NDArray[np.float32]]:
        longest = max(len(window.ids) for window in batch)
        ids = np.full((len(batch), longest), PAD, np.int64)
        mask = np.zeros((len(batch), longest), np.float32)
        for row, window in enumerate(batch):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1.0
        embedded = dequantise(self._words[ids.ravel()]).reshape(len(batch), longest, DIM)
        embedded += self._positions[:longest]
        result: list[NDArray[np.float32]] = self._session.run(outputs, {"embedded": embedded, "mask": mask})
        return result


def _batches(windows: list[_Window]) -> Iterator[list[_Window]]:
    """Windows of similar length together, so that little is padded."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        if batch and (len(batch) + 1) * len(window.ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def open_session(
    skeleton: str, tensors: dict[str, onnxruntime.OrtValue], *, threads: int
) -> onnxruntime.InferenceSession:
    """Return a session for a graph of `adapters/data`, with its weights from memory.

    Raises:
        EmbeddingError: onnxruntime is too old for the graph.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_external_initializers(list(tensors), list(tensors.values()))
    graph = files("ebbing.adapters").joinpath("data", skeleton).read_bytes()
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except RuntimeError as error:
        raise EmbeddingError("onnxruntime cannot run a bundled graph: it needs version 1.18 or newer") from error
