"""A vector index in Milvus: one collection for each model, made when its length is known, with the owner as its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import grpc
import numpy as np
from pymilvus import DataType, MilvusClient
from pymilvus.exceptions import ConnectionConfigException, MilvusException

from ebbing.adapters.vectors.collection_index import CollectionIndex, check_version, owner_key
from ebbing.adapters.vectors.rooms import digest
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

_BATCH: Final = 1_000
_CONNECT_SECONDS: Final = 10.0
_CALL_SECONDS: Final = 30.0
"""Each call names it: the client holds none of those to what it was opened with, and waits without end."""
_LEAST_VERSION: Final = (2, 3)
_GRAPH: Final = {"M": 16, "efConstruction": 200}
_STRONG: Final = "Strong"
"""What was written is seen by whoever asks next."""
_REFUSED: Final = "Milvus refuses the token: check EBBING_VECTOR_INDEX_API_KEY"
_FORBIDDEN: Final = "Milvus does not let this user do it: check EBBING_VECTOR_INDEX_API_KEY and its rights"
_FULL: Final = "Milvus is full: give it more memory, disk or quota, then retry"
_BUSY: Final = "Milvus gets too many requests: look at its load and its limits, then retry"
_ADVICE: Final[Mapping[Any, str]] = {
    "UNAUTHENTICATED": _REFUSED,
    "PERMISSION_DENIED": _FORBIDDEN,
    "DEADLINE_EXCEEDED": "Milvus takes too long: look at its load, then retry",
    "RESOURCE_EXHAUSTED": _BUSY,
    "UNIMPLEMENTED": "Milvus lacks a call: check EBBING_VECTOR_INDEX_URL and its version",
    3: _FULL,
    4: _BUSY,
    7: _FULL,
    8: _BUSY,
    9: _FULL,
    1400: _REFUSED,
    1401: _FORBIDDEN,
}
"""What to do, by the status of a call that came to nothing, or by the code of Milvus's answer."""


class MilvusIndex(CollectionIndex[MilvusClient]):
    """A `VectorIndex` on a Milvus server, 2.3 or newer. Threads and event loops may share it."""

    name = "milvus"

    def __init__(self, url: str, *, token: str = "", collection: str = "ebbing") -> None:
        """Connected at the first use.

        Args:
            url: such as `http://host:19530`, or `http://host:19530/database`.
            token: `user:password` or a key.
            collection: how the names of the collections begin.
        """
        super().__init__(partial(_connected, url, token), collection=collection)

    def _names(self) -> list[str]:
        return list(self._opened().list_collections(timeout=_CALL_SECONDS))

    def _is_there(self, name: str) -> bool:
        if not self._opened().has_collection(name, timeout=_CALL_SECONDS):
            return False
        self._load(name)
        return True

    def _make(self, name: str, dim: int) -> None:
        client = self._opened()
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("owner", DataType.VARCHAR, max_length=32, is_partition_key=True)
        schema.add_field("place", DataType.VARCHAR, max_length=32)
        schema.add_field("seq", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
        client.create_collection(name, schema=schema, consistency_level=_STRONG, timeout=_CALL_SECONDS)
        self._load(name)

    def _load(self, name: str) -> None:
        """Have a collection searched; who made it may have been killed before it had its graph."""
        client = self._opened()
        if not client.list_indexes(name):
            graph = client.prepare_index_params()
            graph.add_index(field_name="vector", index_type="HNSW", metric_type="IP", params=_GRAPH)
            client.create_index(name, graph, timeout=_CALL_SECONDS)
        client.load_collection(name, timeout=_CALL_SECONDS)

    def _drop(self, name: str) -> None:
        self._opened().drop_collection(name, timeout=_CALL_SECONDS)

    def _collections(self) -> list[str]:
        names = super()._collections()
        for name in set(names) - self._seen:
            self._load(name)
        return names

    def _upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        name, owner, place = self._made(room), owner_key(room), digest(room.partition)
        for start in range(0, len(seqs), _BATCH):
            pairs = zip(seqs[start : start + _BATCH].tolist(), vectors[start : start + _BATCH].tolist(), strict=True)
            rows: list[dict[str, Any]] = [
                {"id": f"{owner}:{seq}", "owner": owner, "place": place, "seq": seq, "vector": vector}
                for seq, vector in pairs
            ]
            # Not `upsert`: Milvus 2.3 puts its rows under other owners' keys.
            self._opened().delete(name, ids=[row["id"] for row in rows], timeout=_CALL_SECONDS)
            self._opened().insert(name, data=rows, timeout=_CALL_SECONDS)

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        of_partition = f'place == "{digest(partition)}"'
        for name in self._collections():
            if seqs is None:
                self._opened().delete(name, filter=of_partition, timeout=_CALL_SECONDS)
                continue
            for start in range(0, len(seqs), _BATCH):
                rows = seqs[start : start + _BATCH].tolist()
                self._opened().delete(name, filter=f"{of_partition} and seq in {rows}", timeout=_CALL_SECONDS)

    def _search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        name = self._find(room)
        if name is None:
            return np.zeros(0, dtype=np.int64)
        [hits] = self._opened().search(
            name,
            data=[vector.tolist()],
            filter=_filter(room),
            limit=limit,
            output_fields=["seq"],
            search_params={"metric_type": "IP", "params": {"ef": max(limit, 64)}},
            consistency_level=_STRONG,
            timeout=_CALL_SECONDS,
        )
        return np.array([hit["entity"]["seq"] for hit in hits], dtype=np.int64)

    def _count(self, room: VectorRoom) -> int:
        name = self._find(room)
        if name is None:
            return 0
        [row] = self._opened().query(
            name,
            filter=_filter(room),
            output_fields=["count(*)"],
            consistency_level=_STRONG,
            timeout=_CALL_SECONDS,
        )
        return int(row["count(*)"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (ConnectionConfigException, ValueError):  # their words repeat the address
            raise VectorIndexError(
                "Milvus cannot be reached: check EBBING_VECTOR_INDEX_URL, such as http://host:19530"
            ) from None
        except (MilvusException, grpc.RpcError) as error:
            raise VectorIndexError(_advice(error)) from error
        except (OSError, RuntimeError) as error:
            raise VectorIndexError("Milvus cannot be reached: start it, or check EBBING_VECTOR_INDEX_URL") from error


def _connected(url: str, token: str) -> MilvusClient:
    parts = urlsplit(url)
    database = ""  # not every version of the client finds it in the address
    if parts.netloc:
        database = parts.path.strip("/").partition("/")[0]
    client = MilvusClient(uri=url, token=token, db_name=database, timeout=_CONNECT_SECONDS)
    try:
        check_version("Milvus", client.get_server_version(timeout=_CALL_SECONDS), least=_LEAST_VERSION)
    except BaseException:
        client.close()
        raise
    return client


def _advice(error: Exception) -> str:
    """Return what to do about what the client raised."""
    status = _status(error)
    code = getattr(error, "code", None) if status is None else status.name
    usual = f"Milvus cannot be reached or refuses (code {code}): start it, or check EBBING_VECTOR_INDEX_URL"
    return _ADVICE.get(code, usual)


def _status(error: Exception) -> grpc.StatusCode | None:
    """Return what went wrong with the call itself; the client wraps only some of it."""
    for part in (error, error.__cause__, error.__context__):
        if isinstance(part, grpc.RpcError):
            return part.code()
    return None


def _filter(room: VectorRoom) -> str:
    return f'owner == "{owner_key(room)}"'
