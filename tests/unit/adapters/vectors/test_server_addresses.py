"""Addresses of servers of vectors: what cannot be read is refused, and shown nowhere."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ebbing.adapters.vectors.pgvector import PgvectorIndex
from ebbing.domain.errors import ConfigurationError, VectorIndexError
from ebbing.ports.indexes.vector_index import VectorRoom
from ebbing.wiring.build import build, load_settings

ROOM = VectorRoom("default", "1", "model", 4)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgres+asyncpg"])
def test_an_address_of_sqlalchemy_is_taken_without_its_driver(scheme: str) -> None:
    index = PgvectorIndex(f"{scheme}://ada:secret99@h:5432/d")
    assert conninfo_to_dict(index._url) == {
        "user": "ada",
        "password": "secret99",
        "host": "h",
        "port": "5432",
        "dbname": "d",
    }


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:secret99@h1:5432,h2:5433/d?target_session_attrs=read-write",
        "postgresql://ada:secret99@[::1]/d",
        "postgresql://ada:secret99@%2Fvar%2Frun/d",
        "postgresql://ada:se%40cr%2Fet99@h/a%40b",
        "host=h user=ada password=secret99",
        "dbname=a@b",
    ],
)
def test_every_form_that_libpq_reads_is_taken_as_it_is(address: str) -> None:
    assert PgvectorIndex(address)._url == address


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:secret99%zz@h/d",
        "postgresql://ada:secret99%00@h/d",
        "postgresql://ada:se/cret99@h/d",
        "postgresql://ada:12/cret99@h/d",
        "postgresql://ada:se@cret99@h/d",
        "postgresql://ada@h/d?passwort=secret99",
        "mysql://ada:secret99@h/d",
        "http://ada:secret99@h:6333",
        "ada:secret99@h/d",
    ],
)
def test_an_address_that_libpq_cannot_read_is_refused_and_shown_nowhere(address: str, tmp_path: Path) -> None:
    settings = {"vector_index": "pgvector", "vector_index_url": address, "path": tmp_path, "embedder": "none"}
    with pytest.raises(ConfigurationError, match=r"EBBING_VECTOR_INDEX_URL .*%40") as error:
        build(load_settings(settings))
    written = "".join(traceback.format_exception(error.value))
    assert "cret99" not in written.replace(__name__, "")


@pytest.mark.anyio
async def test_what_the_client_says_of_an_address_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, **_: Any) -> None:
        raise psycopg.ProgrammingError(f"cannot read {url}")

    monkeypatch.setattr(psycopg, "connect", refuse)
    index = PgvectorIndex("postgresql://ada:secret99@h/d")
    with pytest.raises(VectorIndexError, match="EBBING_VECTOR_INDEX_URL") as error:
        await index.count(ROOM)
    assert "secret99" not in "".join(traceback.format_exception(error.value))


def qdrant(address: str) -> Any:
    from qdrant_client import QdrantClient

    from ebbing.adapters.vectors.qdrant import QdrantIndex

    return QdrantIndex(lambda: QdrantClient(address, check_compatibility=False))


def milvus(address: str) -> Any:
    from ebbing.adapters.vectors.milvus import MilvusIndex

    return MilvusIndex(address)


@pytest.mark.filterwarnings("ignore")  # of their clients
@pytest.mark.parametrize("opened", [qdrant, milvus])
@pytest.mark.parametrize("address", ["ftp://ada:secret99@h", "http://ada:secret99/more@h:1", "http://ada@h:secret99"])
@pytest.mark.anyio
async def test_an_address_that_another_client_refuses_is_shown_nowhere(
    opened: Callable[[str], Any], address: str
) -> None:
    pytest.importorskip("qdrant_client")
    pytest.importorskip("pymilvus")
    with pytest.raises(VectorIndexError) as error:
        await opened(address).count(ROOM)
    assert "secret99" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize(
    ("address", "database"),
    [("http://h:19530", ""), ("http://h:19530/", ""), ("http://h:19530/house", "house"), ("unix:/tmp/milvus", "")],
)
@pytest.mark.anyio
async def test_milvus_is_asked_for_the_database_of_its_address(
    address: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pymilvus")
    from ebbing.adapters.vectors import milvus as adapter

    calls: list[str] = []

    def connect(*, db_name: str, **_: Any) -> None:
        calls.append(db_name)
        raise OSError("nobody is there")

    monkeypatch.setattr(adapter, "MilvusClient", connect)
    with pytest.raises(VectorIndexError, match="cannot be reached"):
        await adapter.MilvusIndex(address).count(ROOM)
    assert calls == [database]
