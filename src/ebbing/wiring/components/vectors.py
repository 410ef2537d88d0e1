"""The index of vectors for large owners, if the settings name one, and what keeps it in step."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.ports.indexes.vector_index import VectorIndex
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.candidates import CandidateRows
from ebbing.upkeep.repair.vector_follower import VectorFollower
from ebbing.wiring.components.process_priority import yield_thread
from ebbing.wiring.config.settings import Settings

_QDRANT_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class VectorParts:
    """What searches and writes are given of the index."""

    candidates: CandidateRows
    follower: VectorFollower


def vector_parts(settings: Settings, store: MemoryStore) -> VectorParts | None:
    """Return the parts of the index that the settings name; None for none.

    Raises:
        ConfigurationError: the store has no outbox that an index could follow, or a setting is missing.
        MissingExtraError: the package of the index is not installed.
    """
    if settings.vector_index == "none":
        return None
    outbox = store.outbox
    if outbox is None:
        raise ConfigurationError(
            f"EBBING_VECTOR_INDEX={settings.vector_index} needs a store that is not in RAM:"
            " set EBBING_VECTOR_INDEX=none"
        )
    try:
        index = _OPENED[settings.vector_index](settings)
    except ModuleNotFoundError as error:
        extra = settings.vector_index
        raise MissingExtraError(
            f"EBBING_VECTOR_INDEX={extra} needs a package: pip install 'ebbing[{extra}]'"
        ) from error
    min_rows = settings.vector_index_from
    follower = VectorFollower(store, outbox, index=index, min_rows=min_rows, begin=yield_thread)
    return VectorParts(CandidateRows(index, outbox, store, min_rows, follower.follow), follower)


def _usearch(settings: Settings) -> VectorIndex:
    from ebbing.adapters.vectors.usearch import UsearchIndex

    if settings.vector_index_path is None and settings.address is not None:
        raise ConfigurationError(
            "EBBING_VECTOR_INDEX=usearch beside a store on a server needs a directory of its own:"
            " set EBBING_VECTOR_INDEX_PATH"
        )
    directory = settings.vector_index_path or settings.path / "vectors"
    return UsearchIndex(directory, place="" if settings.address is None else _place(directory))


def _place(directory: Path) -> str:
    """Return what names a directory for good, noted in it: of the machines at one store each may have its own.

    Raises:
        ConfigurationError: the directory cannot be made or written.
    """
    file, draft = directory / "place", directory / f"place.{os.getpid()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            draft.write_text(uuid4().hex[:8], encoding="ascii")
            with suppress(FileExistsError):  # another process was faster
                os.link(draft, file)
            draft.unlink(missing_ok=True)
        return file.read_text(encoding="ascii")
    except OSError as error:
        raise ConfigurationError(
            f"EBBING_VECTOR_INDEX_PATH cannot be used ({error.strerror}): name a directory that can be written"
        ) from error


def _qdrant(settings: Settings) -> VectorIndex:
    from qdrant_client import QdrantClient

    from ebbing.adapters.vectors.qdrant import QdrantIndex

    url, key = _address(settings), _key(settings)
    connect = partial(QdrantClient, url, api_key=key or None, timeout=_QDRANT_SECONDS, check_compatibility=False)
    return QdrantIndex(connect, collection=settings.vector_index_collection)


def _milvus(settings: Settings) -> VectorIndex:
    from ebbing.adapters.vectors.milvus import MilvusIndex

    return MilvusIndex(_address(settings), token=_key(settings), collection=settings.vector_index_collection)


def _pgvector(settings: Settings) -> VectorIndex:
    from ebbing.adapters.vectors.pgvector import PgvectorIndex

    return PgvectorIndex(_address(settings), collection=settings.vector_index_collection)


def _address(settings: Settings) -> str:
    if not settings.vector_index_url:
        raise ConfigurationError(
            f"EBBING_VECTOR_INDEX={settings.vector_index} needs the address of its server: set EBBING_VECTOR_INDEX_URL"
        )
    return settings.vector_index_url


def _key(settings: Settings) -> str:
    return settings.vector_index_api_key.get_secret_value() if settings.vector_index_api_key else ""


_OPENED: Final[Mapping[str, Callable[[Settings], VectorIndex]]] = {
    "usearch": _usearch,
    "qdrant": _qdrant,
    "milvus": _milvus,
    "pgvector": _pgvector,
}
