"""A vector index in Qdrant: one collection for each model, with the owner as a tenant of the payload index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from uuid import UUID

import httpx
import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ebbing.adapters.vectors.collection_index import CollectionIndex, check_version, owner_key
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

_BATCH: Final = 1_000
_HNSW: Final = models.HnswConfigDiff(m=16, ef_construct=200)
_TENANT: Final = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
_FIELDS: Final[dict[str, Any]] = {
    "owner": _TENANT,
    "partition": models.PayloadSchemaType.KEYWORD,
    "row": models.PayloadSchemaType.INTEGER,
}
_ROW_BITS: Final = (1 << 64) - 1
_LEAST_VERSION: Final = (1, 11)
"""Of the server: tenants of a payload index; an older one takes the word for them, and does nothing."""
_SLOW: Final = "Qdrant takes too long: look at its load, then retry"
_FULL: Final = "Qdrant is full: make room on its disk, then retry"
_BUSY: Final = "Qdrant gets too many requests: look at its load and its limits, then retry"
_ADVICE: Final[Mapping[int | None, str]] = {
    401: "Qdrant refuses the key: check EBBING_VECTOR_INDEX_API_KEY",
    403: "Qdrant does not let this key do it: check EBBING_VECTOR_INDEX_API_KEY and its rights",
    408: _SLOW,
    429: _BUSY,
    503: "Qdrant is not ready: look at its log, then retry",
    504: _SLOW,
    507: _FULL,
}
"""What to do, by the status of an answer."""
_NO_SPACE: Final = b"No space left on device"
"""In an answer with status 500: how earlier versions say that they are full."""


class QdrantIndex(CollectionIndex[QdrantClient]):
    """A `VectorIndex` on a Qdrant server. Its clients may be shared by threads."""

    name = "qdrant"

    def __init__(self, connect: Callable[[], QdrantClient], *, collection: str = "ebbing") -> None:
        """`connect` is called at the first use, so that a server which is down fails no start."""
        super().__init__(partial(_connected, connect), collection=collection)

    def _names(self) -> list[str]:
        return [item.name for item in self._opened().get_collections().collections]

    def _is_there(self, name: str) -> bool:
        return bool(self._opened().collection_exists(name))

    def _make(self, name: str, dim: int) -> None:
        client = self._opened()
        shape = models.VectorParams(size=dim, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=shape, hnsw_config=_HNSW)
        for field, kind in _FIELDS.items():
            client.create_payload_index(name, field, field_schema=kind)

    def _drop(self, name: str) -> None:
        self._opened().delete_collection(name)

    def _upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        name, owner = self._made(room), owner_key(room)
        for start in range(0, len(seqs), _BATCH):
            rows = seqs[start : start + _BATCH].tolist()
            points = models.Batch(
                ids=[_point_id(owner, row) for row in rows],
                vectors=vectors[start : start + _BATCH].tolist(),
                payloads=[{"owner": owner, "partition": room.partition, "row": row} for row in rows],
            )
            self._opened().upsert(name, points=points, wait=True)

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        of_partition = models.FieldCondition(key="partition", match=models.MatchValue(value=partition))
        for name in self._collections():
            if seqs is None:
                self._opened().delete(name, models.FilterSelector(filter=models.Filter(must=[of_partition])), wait=True)
                continue
            for start in range(0, len(seqs), _BATCH):
                rows = models.MatchAny(any=seqs[start : start + _BATCH].tolist())
                chosen = models.Filter(must=[of_partition, models.FieldCondition(key="row", match=rows)])
                self._opened().delete(name, models.FilterSelector(filter=chosen), wait=True)

    def _search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        name = self._find(room)
        if name is None:
            return np.zeros(0, dtype=np.int64)
        answer = self._opened().query_points(
            name,
            query=vector.tolist(),
            query_filter=_filter(room),
            limit=limit,
            with_payload=False,
            search_params=models.SearchParams(hnsw_ef=max(limit, 128)),
        )
        return np.array([UUID(str(point.id)).int & _ROW_BITS for point in answer.points], dtype=np.int64)

    def _count(self, room: VectorRoom) -> int:
        name = self._find(room)
        return 0 if name is None else self._opened().count(name, count_filter=_filter(room), exact=True).count

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UnexpectedResponse as error:
            usual = f"Qdrant answered {error.status_code}: check its log and its version"
            advice = _FULL if _NO_SPACE in error.content else _ADVICE.get(error.status_code, usual)
            raise VectorIndexError(advice) from error
        except QdrantException as error:  # it says when to come back
            raise VectorIndexError(_BUSY) from error
        except (ApiException, httpx.HTTPError, OSError) as error:
            if _is_late(error):
                raise VectorIndexError(_SLOW) from error
            raise VectorIndexError("Qdrant cannot be reached: start it, or check EBBING_VECTOR_INDEX_URL") from error
        except ValueError as error:  # its words may repeat the address
            raise VectorIndexError(
                f"Qdrant cannot do that ({type(error).__name__}): check EBBING_VECTOR_INDEX_URL and its version"
            ) from None
        except RuntimeError as error:
            raise VectorIndexError(f"Qdrant cannot do that ({type(error).__name__}): check its version") from error


def _connected(connect: Callable[[], QdrantClient]) -> QdrantClient:
    """Return a client whose server is new enough."""
    client = connect()
    try:
        check_version("Qdrant", str(client.info().version), least=_LEAST_VERSION)
    except BaseException:
        client.close()
        raise
    return client


def _is_late(error: Exception) -> bool:
    """Whether a server that was reached did not answer in time."""
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    return isinstance(cause, httpx.TimeoutException) and not isinstance(cause, httpx.ConnectTimeout)


def _point_id(owner: str, row: int) -> str:
    """Return an id that holds the row, so that an answer needs no payload."""
    return str(UUID(int=int(owner, 16) << 64 | row))


def _filter(room: VectorRoom) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key="owner", match=models.MatchValue(value=owner_key(room)))])
