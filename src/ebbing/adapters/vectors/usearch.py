"""A vector index in files beside the embedded store, one for each large owner: int8 graphs that are mapped, not read.

What is changed is changed in a copy in RAM. `save` writes it beside the file and puts it in its place. So a process
that is killed leaves the former file, and other processes see the new one at their next search.
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
from ebbing.ports.vector_index import Seqs, VectorRoom, Vectors

with suppress(ImportError):
    # Where usearch 2.26 is loaded before it, onnxruntime ends the process when it is loaded.
    import onnxruntime  # noqa: F401

from usearch.index import Index

_Result = TypeVar("_Result")
_CONNECTIVITY: Final = 16
_EXPANSION_ADD: Final = 128
_EXPANSION_SEARCH: Final = 100
_SPARE: Final = 1 << 62
"""From this key on: entries that stand where something was removed, until a new row takes the place."""
_ENDING: Final = ".usearch"
_PLAIN: Final = re.compile(r"[\w-]{1,64}", re.ASCII)


@dataclass(slots=True)
class _View:
    """A file as it was mapped."""

    index: Any
    version: tuple[int, int, int]
    """Inode, time and size of the file: another one was put in its place where they differ."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class UsearchIndex:
    """A `VectorIndex` in `directory`. Threads and event loops may share it; one process at a time may change it."""

    name = "usearch"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._views: dict[Path, _View] = {}
        self._drafts: dict[Path, Any] = {}
        """What was changed and is not saved yet."""
        self._lock = threading.RLock()

    async def upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        check_length(room, vectors)
        if len(seqs):
            await _in_a_thread(partial(self._upsert, self._file(room), seqs, vectors=vectors))

    async def delete(self, partition: str, seqs: Seqs | None = None) -> None:
        await _in_a_thread(self._delete, partition, seqs)

    async def search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        check_length(room, vector)
        view = self._view(self._file(room))
        if view is None:
            return np.zeros(0, dtype=np.int64)
        with view.lock:
            keys = _guarded(lambda: view.index.search(vector, limit).keys)
        return np.asarray(keys[keys < _SPARE], dtype=np.int64)

    async def count(self, room: VectorRoom) -> int:
        view = self._view(self._file(room))
        return 0 if view is None else len(view.index) - _spares(view.index)

    async def save(self, *, is_complete: bool = True) -> None:
        del is_complete
        await _in_a_thread(self._save)

    async def clear(self) -> None:
        await _in_a_thread(self._clear)

    async def aclose(self) -> None:
        with self._lock:
            self._views.clear()
            self._drafts.clear()

    def _file(self, room: VectorRoom) -> Path:
        name = f"{_file_part(room.partition)}.{digest(room.tenant)}{_ENDING}"
        return self._directory / collection_name("model", room) / name

    def _view(self, file: Path) -> _View | None:
        try:
            stat = file.stat()
        except FileNotFoundError:
            self._views.pop(file, None)
            return None
        version = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        view = self._views.get(file)
        if view is None or view.version != version:
            view = _View(_read(file, is_mapped=True), version)
            self._views[file] = view
        return view

    def _draft(self, file: Path, dim: int) -> Any:
        """Return the copy in RAM that is changed."""
        draft = self._drafts.get(file)
        if draft is None:
            draft = _read(file, is_mapped=False) if file.exists() else _empty(dim)
            self._drafts[file] = draft
        return draft

    def _upsert(self, file: Path, seqs: Seqs, *, vectors: Vectors) -> None:
        with self._lock:
            index = self._draft(file, vectors.shape[1])
            last = {int(seq): at for at, seq in enumerate(seqs.tolist())}
            keys = np.fromiter(last, dtype=np.uint64, count=len(last))
            known = np.asarray(index.contains(keys)).reshape(-1)
            index.remove(keys[known])
            free = min(_spares(index), len(keys) - int(known.sum()))
            index.remove(_spare_keys(_spares(index) - free, free))
            index.add(keys, vectors[list(last.values())], threads=1)

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        with self._lock:
            files = {*self._directory.glob(f"*/{_file_part(partition)}.*{_ENDING}")}
            files |= {file for file in self._drafts if file.name.startswith(f"{_file_part(partition)}.")}
            for file in files:
                if seqs is None:
                    self._drafts.pop(file, None)
                    self._views.pop(file, None)
                    file.unlink(missing_ok=True)
                elif len(seqs):
                    _remove(self._draft(file, 0), np.unique(seqs).astype(np.uint64))

    def _save(self) -> None:
        with self._lock:
            for file, index in list(self._drafts.items()):
                _write(file, index)
                del self._drafts[file]

    def _clear(self) -> None:
        with self._lock:
            self._drafts.clear()
            self._views.clear()
            for file in self._directory.glob(f"*/*{_ENDING}"):
                file.unlink(missing_ok=True)


def _file_part(partition: str) -> str:
    return partition if _PLAIN.fullmatch(partition) else digest(partition)


def _empty(dim: int) -> Any:
    return Index(
        ndim=dim,
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=_EXPANSION_SEARCH,
    )


def _read(file: Path, *, is_mapped: bool) -> Any:
    try:
        index: Any = Index.restore(str(file), view=is_mapped)
    except (OSError, ValueError, RuntimeError) as error:
        raise VectorIndexError(_unreadable(file)) from error
    if index is None:
        raise VectorIndexError(_unreadable(file))
    index.expansion_add, index.expansion_search = _EXPANSION_ADD, _EXPANSION_SEARCH
    return index


def _unreadable(file: Path) -> str:
    return (
        f"the vector index {file.name} cannot be read: delete the folder {file.parent.parent.name}, it is built again"
    )


def _write(file: Path, index: Any) -> None:
    beside = file.with_suffix(".new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _guarded(lambda: index.save(str(beside)))
        with beside.open("rb") as written:
            os.fsync(written.fileno())
        beside.replace(file)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise VectorIndexError(
            f"the vector index cannot be written ({error.strerror}): give its folder room, then search again"
        ) from error


def _remove(index: Any, keys: Any) -> None:
    """Remove rows, and write something else over their vectors, which usearch would keep."""
    known = keys[np.asarray(index.contains(keys)).reshape(-1)]
    if not len(known):
        return
    index.remove(known)
    spares = _spare_keys(_spares(index), len(known))
    noise = np.random.default_rng(int(spares[0])).standard_normal((len(spares), index.ndim), dtype=np.float32)
    index.add(spares, noise, threads=1)


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
