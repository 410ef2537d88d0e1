"""multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672), 4-bit, run on onnxruntime. No network, no compiler."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Literal

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from ebbing.adapters.embedders.e5_weights import DIM, MAX_TOKENS, E5Weights, Vocabulary, locate, read_weights
from ebbing.adapters.embedders.model_calls import PARALLEL_RUNS, clean, in_model_thread, unit
from ebbing.domain.errors import EmbeddingError
from ebbing.language.text.caches import text_cache
from ebbing.ports.models.embedder import Calibration, Vectors

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
    """384-d vectors for some hundred languages, centred per language and role; those of questions are mapped, too.

    Text is sanitised and cut to 16,000 characters; what is longer than 512 tokens is embedded in windows of equal
    length (at most four), whose mean vectors are averaged by tokens. About 10 ms of CPU for a sentence, 60 ms for 130
    tokens, 1.5 s at most for the longest text. Safe to use from many threads and tasks.
    """

    model_id = "multilingual-e5-small-q4/2"
    dim = DIM
    parallel_runs = PARALLEL_RUNS
    calibration = Calibration(unrelated=0.18, related=0.48, paraphrase=0.84, same=0.95)

    def __init__(
        self,
        weights: E5Weights,
        *,
        threads: int = 1,
        centring: Centring | None,
        question_map: QuestionMap | None,
    ) -> None:
        self._tokenizer = UnigramTokenizer(weights.vocabulary)
        self._words = weights.words
        self._positions = weights.positions
        self._centring = centring
        self._question_map = question_map
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
            centred: False gives the model's raw vectors, for measuring only: `model_id` means the centred ones.

        Raises:
            ImportError: the package that carries the weights is not installed.
            EmbeddingError: the weights are not the known file, or onnxruntime cannot run them.
        """
        weights = read_weights(locate())
        if not centred:
            return cls(weights, threads=threads, centring=None, question_map=None)
        return cls(weights, threads=threads, centring=Centring.load(), question_map=QuestionMap.load())

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

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a clean text, without marks."""
        return self._tokenizer.encode(text)

    def layer_weights(self) -> dict[str, NDArray[np.generic]]:
        """Return the four-bit weights of the layers by name, for a model that builds on them."""
        return {name: value.numpy() for name, value in self._tensors.items()}

    async def aclose(self) -> None:
        """Nothing to close: the memory goes with the object."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """The blocking form of `embed_queries` and `embed_passages`."""
        cleaned = [clean(text) for text in texts]
        windows = [_Window(place, ids) for place, text in enumerate(cleaned) for ids in self._windows(text, role)]
        vectors = np.zeros((len(texts), DIM), np.float32)
        keep = self._keeps_question and role == "query" and len(texts) == len(windows) == 1
        for batch in _batches_of(windows):
            means, *hidden = self._run(["mean", "tokens"] if keep else ["mean"], batch)
            if keep:
                self._question = (texts[0], self._own_tokens(hidden[0][0], batch[0], text=cleaned[0], role=role))
            for window, mean in zip(batch, means, strict=True):
                vectors[window.text] += mean * len(window.ids)
        vectors = unit(vectors)
        if self._centring is not None:
            vectors = self._centring.apply(vectors, cleaned, role=role)
        if self._question_map is not None and role == "query":
            vectors = self._question_map.apply(vectors)
        vectors[[not text for text in cleaned]] = 0.0
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
        for batch in _batches_of(windows):
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
        embedded, mask = self.look_up([window.ids for window in batch])
        result: list[NDArray[np.float32]] = self._session.run(outputs, {"embedded": embedded, "mask": mask})
        return result

    def look_up(self, inputs: Sequence[Sequence[int]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vectors of token ids at their positions, padded, and the mask of what is no padding."""
        longest = max(map(len, inputs))
        ids = np.full((len(inputs), longest), PAD, np.int64)
        mask = np.zeros((len(inputs), longest), np.float32)
        for row, tokens in enumerate(inputs):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1.0
        embedded = dequantise(self._words[ids.ravel()]).reshape(len(inputs), longest, DIM)
        embedded += self._positions[:longest]
        return embedded, mask


def _batches_of(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    for places in batches([len(window.ids) for window in windows], max_tokens=BATCH_TOKENS):
        yield [windows[place] for place in places]


def batches(lengths: Sequence[int], *, max_tokens: int) -> Iterator[list[int]]:
    """Yield the places of inputs of similar length together, so that little is padded.

    Args:
        lengths: tokens of each input.
        max_tokens: of a batch, padding included; an input that is longer comes alone.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > max_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def open_session(
    skeleton: str, tensors: dict[str, onnxruntime.OrtValue], *, threads: int, keeps_buffers: bool = False
) -> onnxruntime.InferenceSession:
    """Return a session for a graph of `adapters/data`, with its weights from memory.

    Args:
        skeleton: the graph's file name.
        tensors: its initialisers by name; the caller keeps them as long as the session.
        threads: CPU threads that one run may use.
        keeps_buffers: keep the memory of a run for the next. Faster, and right where runs are small.

    Raises:
        EmbeddingError: onnxruntime is too old for the graph.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = keeps_buffers
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_external_initializers(list(tensors), list(tensors.values()))
    graph = files("ebbing.adapters").joinpath("data", skeleton).read_bytes()
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except RuntimeError as error:
        raise EmbeddingError("onnxruntime cannot run a bundled graph: it needs version 1.18 or newer") from error


def dequantise(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Q4_0 blocks, shape (rows, n, 18), to numbers, shape (rows, 32 n)."""
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32)
    nibbles = blocks[..., 2:]
    numbers = np.concatenate((nibbles & 15, nibbles >> 4), axis=-1).astype(np.float32)
    numbers -= 8.0
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


# The tokenizer. A text's tokens are the pieces whose log probabilities have the largest sum (Kudo 2018,
# arXiv:1804.10959), found word by word with Viterbi's algorithm. The usual library keeps 290 MiB of memory for this
# vocabulary; a dictionary keeps 50, and its time is a small part of what the model takes for the same text.

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
_SPECIAL = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})
_WORD_MARK = "▁"
_UNKNOWN_PENALTY = 10.0
"""SentencePiece scores an unknown character this far below the least likely piece."""
_REMEMBERED_WORDS = 20_000
_REMEMBERED_LENGTH = 24


class UnigramTokenizer:
    """Turns clean text into token ids. Safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._scores = vocabulary.scores
        self._pieces = vocabulary.pieces
        self._ids = dict(zip(vocabulary.pieces, range(len(vocabulary.pieces)), strict=True))
        for special in _SPECIAL:  # text that spells a control token must not become one
            self._ids.pop(special, None)
        self._reach: dict[str, int] = {}
        for piece in self._ids:
            if len(piece) > self._reach.get(piece[0], 0):
                self._reach[piece[0]] = len(piece)
        self._unknown_score = min(vocabulary.scores) - _UNKNOWN_PENALTY
        self._short_word = text_cache(_REMEMBERED_WORDS)(self._segment)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without begin and end marks."""
        ids: list[int] = []
        for word in text.split():
            segment = self._short_word if len(word) <= _REMEMBERED_LENGTH else self._segment
            ids.extend(segment(_WORD_MARK + word))
        return ids

    def piece(self, number: int) -> str:
        """The spelling of a token id."""
        return self._pieces[number]

    def _segment(self, word: str) -> tuple[int, ...]:
        best = [0.0] + [float("-inf")] * len(word)
        arrival: list[tuple[int, int]] = [(0, UNKNOWN)] * (len(word) + 1)
        ids, scores, reach, length = self._ids, self._scores, self._reach, len(word)
        for start in range(length):
            here = best[start]
            is_known = False
            for end in range(start + 1, min(length, start + reach.get(word[start], 0)) + 1):
                piece = ids.get(word[start:end])
                if piece is None:
                    continue
                is_known = is_known or end == start + 1
                if here + scores[piece] > best[end]:
                    best[end] = here + scores[piece]
                    arrival[end] = (start, piece)
            if not is_known and here + self._unknown_score > best[start + 1]:
                best[start + 1] = here + self._unknown_score
                arrival[start + 1] = (start, UNKNOWN)
        return _walk_back(arrival)


def _walk_back(arrival: list[tuple[int, int]]) -> tuple[int, ...]:
    """The pieces along the best path; neighbouring unknown characters count as one."""
    backwards: list[int] = []
    end = len(arrival) - 1
    while end:
        end, piece = arrival[end]
        if not (piece == UNKNOWN and backwards and backwards[-1] == UNKNOWN):
            backwards.append(piece)
    return tuple(reversed(backwards))


# Language centring takes away what e5 says about the language, and leaves what it says about the meaning. Every e5
# vector carries a large common part, and that part differs between languages and between questions and passages. In a
# store that mixes Chinese and English, a Chinese question therefore finds Chinese memories first, whatever they say.
# Subtracting the mean vector of the text's language and role mends it (compare "all-but-the-top", Mu & Viswanath 2018,
# arXiv:1702.01417, of which this is the first step, taken per language). The means are constants of the model id, made
# by `scripts/build_e5_means.py`.

Role = Literal["query", "passage"]
ROLES: tuple[Role, ...] = ("query", "passage")
FILE_NAME = "e5_means.npy"
TOKENS_FILE_NAME = "e5_token_means.npy"
"""The same for the vectors of single tokens."""
MAP_FILE_NAME = "question_map.npz"
LETTERS_PER_HAN = 3.0
"""So many Latin letters say about as much as one Han character."""


def chinese_share(text: str) -> float:
    """How much of the text is Chinese rather than English, in [0, 1]; 0.5 when it is neither."""
    han = sum("\u3400" <= character <= "\u9fff" for character in text)
    latin = sum(character.isascii() and character.isalpha() for character in text)
    other = sum(character.isalpha() for character in text) - han - latin
    if 2 * other > han + latin or not han + latin:
        return 0.5
    return han / (han + latin / LETTERS_PER_HAN)


@dataclass(frozen=True, slots=True)
class Centring:
    """Mean vectors, shape (role, language, dim), in the order query, passage and English, Chinese."""

    means: NDArray[np.float32]

    @classmethod
    def load(cls, name: str = FILE_NAME) -> Centring:
        """The means that belong to the model."""
        data = files("ebbing.adapters").joinpath("data", name).read_bytes()
        return cls(np.load(io.BytesIO(data), allow_pickle=False).astype(np.float32))

    def apply(self, vectors: NDArray[np.float32], texts: Sequence[str], *, role: Role) -> NDArray[np.float32]:
        """Centred vectors, renormalised; same shape. The mean is blended by the text's share of Chinese."""
        english, chinese = self.means[ROLES.index(role)]
        share = np.array([chinese_share(text) for text in texts], np.float32)[:, None]
        return unit(vectors - (share * chinese + (1 - share) * english))


@dataclass(frozen=True, slots=True)
class QuestionMap:
    """A linear step that is added to the vectors of questions.

    An embedder places a question beside texts that sound like it. Those that answer it sound otherwise: "who can let me
    in?" is answered by "Terry at number 9 has the spare key". The step was learned from questions and what answers them
    (`training/question_map.py`). The vectors of what is stored stay as they are.
    """

    weight: NDArray[np.float32]
    """Shape (dim, dim)."""
    bias: NDArray[np.float32]
    """Shape (dim,)."""

    @classmethod
    def load(cls) -> QuestionMap:
        """Read the map that belongs to the bundled model."""
        data = np.load(
            io.BytesIO(files("ebbing.adapters").joinpath("data", MAP_FILE_NAME).read_bytes()), allow_pickle=False
        )
        return cls(data["weight"].astype(np.float32), data["bias"].astype(np.float32))

    def apply(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return unit vectors, shape (questions, dim), for unit vectors of the same shape."""
        return unit(vectors + vectors @ self.weight + self.bias)
