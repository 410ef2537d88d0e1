"""A vector index in Milvus: one collection for each model, made when its length is known, with the owner as its key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np
from pymilvus import DataType, MilvusClient
from pymilvus.exceptions import MilvusException

from ebbing.adapters.vectors.collection_index import CollectionIndex, owner_key
from ebbing.adapters.vectors.rooms import digest
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

_BATCH: Final = 1_000
_CALL_SECONDS: Final = 30.0
_LEAST_VERSION: Final = (2, 3)
_GRAPH: Final = {"M": 16, "efConstruction": 200}
_STRONG: Final = "Strong"
"""What was written is seen by whoever asks next."""
_DENIED: Final = frozenset({1800, 1801, 65535})


class MilvusIndex(CollectionIndex[MilvusClient]):
    """A `VectorIndex` on a Milvus server, 2.3 or newer. Threads and event loops may share it."""

    name = "milvus"

    def __init__(self, url: str, *, token: str = "", collection: str = "ebbing") -> None:
        """`token` is `user:password` or a key; connected at the first use."""
        super().__init__(partial(_connected, url, token), collection=collection)

    def _names(self) -> list[str]:
        return list(self._opened().list_collections())

    def _is_there(self, name: str) -> bool:
        if not self._opened().has_collection(name):
            return False
        self._opened().load_collection(name)
        return True

    def _make(self, name: str, dim: int) -> None:
        client = self._opened()
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("owner", DataType.VARCHAR, max_length=32, is_partition_key=True)
        schema.add_field("place", DataType.VARCHAR, max_length=32)
        schema.add_field("seq", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
        graph = client.prepare_index_params()
        graph.add_index(field_name="vector", index_type="HNSW", metric_type="IP", params=_GRAPH)
        client.create_collection(name, schema=schema, index_params=graph, consistency_level=_STRONG)
        client.load_collection(name)

    def _drop(self, name: str) -> None:
        self._opened().drop_collection(name)

    def _collections(self) -> list[str]:
        names = super()._collections()
        for name in set(names) - self._seen:
            self._opened().load_collection(name)
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
            self._opened().delete(name, ids=[row["id"] for row in rows])
            self._opened().insert(name, data=rows)

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        of_partition = f'place == "{digest(partition)}"'
        for name in self._collections():
            if seqs is None:
                self._opened().delete(name, filter=of_partition)
                continue
            for start in range(0, len(seqs), _BATCH):
                rows = seqs[start : start + _BATCH].tolist()
                self._opened().delete(name, filter=f"{of_partition} and seq in {rows}")

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
        )
        return np.array([hit["entity"]["seq"] for hit in hits], dtype=np.int64)

    def _count(self, room: VectorRoom) -> int:
        name = self._find(room)
        if name is None:
            return 0
        [row] = self._opened().query(name, filter=_filter(room), output_fields=["count(*)"], consistency_level=_STRONG)
        return int(row["count(*)"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except MilvusException as error:
            if error.code in _DENIED and "auth" in str(error).casefold():
                raise VectorIndexError("Milvus refuses the token: check EBBING_VECTOR_INDEX_API_KEY") from error
            raise VectorIndexError(
                f"Milvus cannot be reached or refuses (code {error.code}): start it, or check EBBING_VECTOR_INDEX_URL"
            ) from error
        except (OSError, RuntimeError, ValueError) as error:
            raise VectorIndexError("Milvus cannot be reached: start it, or check EBBING_VECTOR_INDEX_URL") from error


def _connected(url: str, token: str) -> MilvusClient:
    client = MilvusClient(uri=url, token=token, timeout=_CALL_SECONDS)
    try:
        _check_version(client.get_server_version())
    except BaseException:
        client.close()
        raise
    return client


def _check_version(version: str) -> None:
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < _LEAST_VERSION:
        raise VectorIndexError(f"Milvus {numbers[1]}.{numbers[2]} is too old: it has to be at least version 2.3")


def _filter(room: VectorRoom) -> str:
    return f'owner == "{owner_key(room)}"'
