"""Looks for what somebody said in every byte of a directory: as text, packed, hashed, or as a vector."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from ebbing.domain.errors import InvalidInputError
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import STORED_VECTOR
from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.text_compression import unpack
from ebbing.testing.models.embedder import FakeEmbedder

PACKERS: tuple[Callable[[bytes], bytes], ...] = (zlib.decompress, gzip.decompress, bz2.decompress, lzma.decompress)
_MOST = 1 << 20


def traces(directory: Path, words: Sequence[str]) -> list[str]:
    """Where the words stand in the files of the directory, in any form that this can read; empty for nowhere."""
    return sorted({f"{file.name}: {form}" for file in files(directory) for form in forms(file.read_bytes(), words)})


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def forms(content: bytes, words: Sequence[str]) -> Iterator[str]:
    for word in words:
        for form, needle in spellings(word).items():
            if needle in content:
                yield f"{word} as {form}"
    for unpacked in streams(content):
        for word in words:
            if word.encode() in unpacked:
                yield f"{word}, packed"


def spellings(word: str) -> dict[str, bytes]:
    """A word as it may lie in a file: the text, and what an index makes of it."""
    found = {
        "UTF-8": word.encode(),
        "UTF-16LE": word.encode("utf-16-le"),
        "UTF-16BE": word.encode("utf-16-be"),
        "JSON": json.dumps(word)[1:-1].encode(),
    }
    found |= {f"the hash of {term}": term_hash(term).to_bytes(8, "little") for term in query_terms(word)[-1:]}
    return found


def vector_of(embedder: FakeEmbedder, text: str) -> bytes:
    """The vector of a text as it lies in the file; its beginning tells it from any other."""
    [vector] = embedder.embed([text])
    return vector.astype(STORED_VECTOR).tobytes()[:32] if np.any(vector) else b""


def streams(content: bytes) -> Iterator[bytes]:
    """Everything in these bytes that is a zlib stream, whole or cut off; and what any blob of a database unpacks to."""
    at = content.find(b"\x78")
    while at >= 0:
        if int.from_bytes(content[at : at + 2], "big") % 31 == 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(content[at:], _MOST)
        at = content.find(b"\x78", at + 1)


def packed_in(database: Path, words: Sequence[str]) -> list[str]:
    """The columns of a database with a value that unpacks to something with one of the words."""
    found: set[str] = set()
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for row in db.execute(f"SELECT * FROM {table}"):
                for column, value in zip(columns, row, strict=True):
                    texts = list(unpacked(value)) if isinstance(value, bytes) else []
                    if any(word.encode() in text for text in texts for word in words):
                        found.add(f"{table}.{column}")
    return sorted(found)


def unpacked(value: bytes) -> Iterator[bytes]:
    for opened in PACKERS:
        try:
            yield opened(value)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            continue
    with suppress(InvalidInputError):
        yield unpack(value).encode("utf-8", "surrogatepass")
