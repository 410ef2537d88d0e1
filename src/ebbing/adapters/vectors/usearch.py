"""A vector index in files of this machine, for each large owner: int8 graphs that are mapped, not read.

What is changed is changed in a copy in RAM. `save` writes it beside the file and puts it in its place. So a process
that is killed leaves the former file, and other processes see the new one at their next search.

To read and write a graph of a million rows takes seconds, in which nobody else of the process gets a turn. So what
comes to a large graph lies in a small one beside it, its tail, until that is full. What stands in the tail counts.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from anyio import to_thread

from ebbing.adapters.vectors.rooms import check_length, collection_name, digest
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

with suppress(ImportError):
    # Where usearch 2.26 is loaded before it, onnxruntime ends the process when it is loaded.
    import onnxruntime  # noqa: F401

from usearch.index import Index

_Result = TypeVar("_Result")
_CONNECTIVITY: Final = 32
_EXPANSION_ADD: Final = 200
_EXPANSION_SEARCH: Final = 200
_SPARSE_EXPANSION_SEARCH: Final = 600
"""Rows that a search weighs in a graph of fewer links, which an earlier version built."""
_SPARE: Final = 1 << 62
"""From this key on: entries that stand where something was removed, until a new row takes the place."""
_ENDING: Final = ".usearch"
_TAIL_ENDING: Final = ".tail.usearch"
TAIL_FROM: Final = 50_000
"""Rows of a graph from which on it has a tail."""
TAIL_ROWS: Final = 10_000
"""Rows of a tail, at most; then the graph takes them in."""
_PLAIN: Final = re.compile(r"[\w-]{1,64}", re.ASCII)


@dataclass(slots=True)
class _View:
    """A file as it was mapped."""

    index: Any
    version: tuple[int, int, int]
    """Inode, time and size of the file: another one was put in its place where they differ."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def nearest(self, vector: Vectors, limit: int) -> tuple[Any, Any]:
        """Return the keys of rows and how far they are, the nearest first."""
        with self.lock:
            matches = _guarded(lambda: self.index.search(vector, limit, threads=1))
        is_row = matches.keys < _SPARE
        return matches.keys[is_row], matches.distances[is_row]


class UsearchIndex:
    """A `VectorIndex` in `directory`. Threads and event loops may share it; one process at a time may change it."""

    def __init__(self, directory: Path, *, place: str = "") -> None:
        """`place` names the directory where several machines with one each follow the same store."""
        self._directory = directory
        self.name = f"usearch-{place}" if place else "usearch"
        self._views: dict[Path, _View] = {}
        self._drafts: dict[Path, Any] = {}
        """What was changed and is not saved yet. A graph in here has the rows of its tail."""
        self._growing: set[Path] = set()
        """Graphs to which many more rows are to come at once."""
        self._files: dict[VectorRoom, Path] = {}
        self._lock = threading.RLock()

    async def upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        check_length(room, vectors)
        if len(seqs):
            await _in_a_thread(partial(self._upsert, self._file(room), seqs, vectors=vectors))

    async def delete(self, partition: str, seqs: Seqs | None = None) -> None:
        await _in_a_thread(self._delete, partition, seqs)

    async def search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        check_length(room, vector)
        file = self._file(room)
        tail = self._view(_tail_of(file))  # first: whoever removes it has put a graph with its rows in place before
        view = self._view(file)
        if view is None:
            return np.zeros(0, dtype=np.int64)
        keys, distances = view.nearest(vector, limit)
        if tail is not None:
            newer, distances_of_newer = tail.nearest(vector, limit)
            is_current = ~np.asarray(tail.index.contains(keys)).reshape(-1)
            order = np.argsort(np.concatenate((distances_of_newer, distances[is_current])), kind="stable")
            keys = np.concatenate((newer, keys[is_current]))[order[:limit]]
        return np.asarray(keys, dtype=np.int64)

    async def count(self, room: VectorRoom) -> int:
        return await _in_a_thread(self._count, self._file(room))

    async def save(self, *, is_complete: bool = True) -> None:
        await _in_a_thread(self._save, is_complete)

    async def clear(self) -> None:
        await _in_a_thread(self._clear)

    async def aclose(self) -> None:
        with self._lock:
            self._views.clear()
            self._drafts.clear()

    def _file(self, room: VectorRoom) -> Path:
        file = self._files.get(room)
        if file is None:
            name = f"{_file_part(room.partition)}.{digest(room.tenant)}{_ENDING}"
            file = self._files[room] = self._directory / collection_name("model", room) / name
        return file

    def _view(self, file: Path) -> _View | None:
        try:
            stat = file.stat()
        except FileNotFoundError:
            self._views.pop(file, None)
            return None
        version = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        view = self._views.get(file)
        if view is None or view.version != version:
            try:
                index = _read(file, is_mapped=True, finds_keys=_is_tail(file))
            except VectorIndexError:
                if file.exists():
                    raise
                return None  # another process removed it meanwhile
            view = self._views[file] = _View(index, version)
        return view

    def _draft(self, file: Path, dim: int) -> Any:
        """Return the copy in RAM of a graph that is changed, with the rows of its tail."""
        draft = self._drafts.get(file)
        if draft is None:
            draft = _read(file, is_mapped=False) if file.exists() else _empty(dim)
            tail = _tail_of(file)
            if tail in self._drafts or tail.exists():
                newer = self._drafts.pop(tail, None)
                newer = _read(tail, is_mapped=False) if newer is None else newer
                keys = _keys_of(newer)
                if len(keys):
                    _put(draft, keys, vectors=np.stack(newer.get(keys)))
            self._drafts[file] = draft
        return draft

    def _changed(self, file: Path, vectors: Vectors) -> Any:
        """Return what takes in some vectors: the tail, or the whole graph where that is small, or its tail is full."""
        tail = _tail_of(file)
        view = None if file in self._drafts or file in self._growing else self._view(file)
        if view is None or len(view.index) < TAIL_FROM:
            return self._draft(file, vectors.shape[1])
        if tail not in self._drafts:
            empty = partial(_empty, vectors.shape[1], metric=view.index.metric_kind)
            self._drafts[tail] = _read(tail, is_mapped=False) if tail.exists() else empty()
        if len(self._drafts[tail]) + len(vectors) > TAIL_ROWS:
            return self._draft(file, vectors.shape[1])
        return self._drafts[tail]

    def _upsert(self, file: Path, seqs: Seqs, *, vectors: Vectors) -> None:
        with self._lock:
            last = {int(seq): at for at, seq in enumerate(seqs.tolist())}
            keys = np.fromiter(last, dtype=np.uint64, count=len(last))
            _put(self._changed(file, vectors), keys, vectors=vectors[list(last.values())])

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        with self._lock:
            files = {*self._directory.glob(f"*/{_file_part(partition)}.*{_ENDING}")}
            files |= {file for file in self._drafts if file.name.startswith(f"{_file_part(partition)}.")}
            for file in files:
                if seqs is None:
                    self._let_go(file)
                elif len(seqs) and not _is_tail(file):
                    self._remove(file, np.unique(seqs).astype(np.uint64))

    def _remove(self, file: Path, keys: Any) -> None:
        is_changed = file in self._drafts or _tail_of(file) in self._drafts
        if not _remove(self._draft(file, 0), keys) and not is_changed:
            del self._drafts[file]

    def _let_go(self, file: Path) -> None:
        self._drafts.pop(file, None)
        self._views.pop(file, None)
        file.unlink(missing_ok=True)

    def _count(self, file: Path) -> int:
        with self._lock:
            files = [some for some in (_tail_of(file), file) if some.exists()]
            # The graph that searches use finds no row by its number: it would take long to open.
            keys = [_keys_of(_read(some, is_mapped=True)) for some in files]
        return len(np.unique(np.concatenate(keys))) if keys else 0

    def _save(self, is_complete: bool) -> None:
        with self._lock:
            for file, index in list(self._drafts.items()):
                _write(file, index)
                del self._drafts[file]
                if not _is_tail(file):
                    self._let_go(_tail_of(file))
                    self._growing.add(file)
            if is_complete:
                self._growing.clear()

    def _clear(self) -> None:
        with self._lock:
            self._drafts.clear()
            self._views.clear()
            for file in self._directory.glob(f"*/*{_ENDING}"):
                file.unlink(missing_ok=True)


def _file_part(partition: str) -> str:
    return partition if _PLAIN.fullmatch(partition) else digest(partition)


def _tail_of(file: Path) -> Path:
    return file.with_suffix(_TAIL_ENDING)


def _is_tail(file: Path) -> bool:
    return file.name.endswith(_TAIL_ENDING)


def _empty(dim: int, *, metric: Any = "ip") -> Any:
    return Index(
        ndim=dim,
        metric=metric,
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=_EXPANSION_SEARCH,
    )


def _read(file: Path, *, is_mapped: bool, finds_keys: bool = True) -> Any:
    try:
        index: Any = Index.restore(str(file), view=is_mapped, enable_key_lookups=finds_keys)
    except (OSError, ValueError, RuntimeError) as error:
        raise VectorIndexError(_unreadable(file)) from error
    if index is None:
        raise VectorIndexError(_unreadable(file))
    is_sparse = index.connectivity < _CONNECTIVITY
    index.expansion_add = _EXPANSION_ADD
    index.expansion_search = _SPARSE_EXPANSION_SEARCH if is_sparse else _EXPANSION_SEARCH
    return index


def _unreadable(file: Path) -> str:
    return (
        f"the vector index {file.name} cannot be read: delete the folder {file.parent.parent.name}, it is built again"
    )


def _write(file: Path, index: Any) -> None:
    draft = file.with_suffix(".new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _guarded(lambda: index.save(str(draft)))
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise VectorIndexError(
            f"the vector index cannot be written ({error.strerror}): give its folder room, then search again"
        ) from error


def _put(index: Any, keys: Any, *, vectors: Any) -> None:
    """Add rows, or put vectors in place of those that they have; places that are spare are taken first."""
    is_stored = np.asarray(index.contains(keys)).reshape(-1)
    index.remove(keys[is_stored])
    free = min(_spares(index), len(keys) - int(is_stored.sum()))
    index.remove(_spare_keys(_spares(index) - free, free))
    index.add(keys, vectors, threads=1)


def _keys_of(index: Any) -> Any:
    keys = np.asarray(index.keys, dtype=np.uint64)
    return keys[keys < _SPARE]


def _remove(index: Any, keys: Any) -> bool:
    """Remove rows, and write something else over their vectors, which usearch would keep; False if there are none."""
    stored = keys[np.asarray(index.contains(keys)).reshape(-1)]
    if not len(stored):
        return False
    index.remove(stored)
    spares = _spare_keys(_spares(index), len(stored))
    noise = np.random.default_rng(int(spares[0])).standard_normal((len(spares), index.ndim), dtype=np.float32)
    index.add(spares, noise, threads=1)
    return True


def _spare_keys(first: int, count: int) -> Any:
    return np.arange(_SPARE + first, _SPARE + first + count, dtype=np.uint64)


def _spares(index: Any) -> int:
    """Return how many places are spare: their keys follow one another."""
    low, high = 0, 1
    while index.contains(_SPARE + high - 1):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if index.contains(_SPARE + middle) else (low, middle)
    return low


def _guarded(work: Callable[[], _Result]) -> _Result:
    try:
        return work()
    except (RuntimeError, ValueError) as error:
        raise VectorIndexError(
            f"the vector index does not work ({type(error).__name__}): delete it to have it built"
        ) from error


async def _in_a_thread(work: Callable[..., _Result], *args: Any) -> _Result:
    return await to_thread.run_sync(partial(work, *args))
