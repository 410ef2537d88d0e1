"""A Milvus of a test's own, from the package `milvus`: it asks who calls, and its quota can be changed as it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, Final

import pytest

from tests.own_servers import free_port

needs_milvus = pytest.mark.skipif(
    find_spec("milvus") is None or find_spec("pymilvus") is None,
    reason="no Milvus server: install `milvus`, which is made for Linux on x86, and `pymilvus`",
)
ROOT: Final = "root:Milvus"
"""The token of its administrator, as every new Milvus has it."""


@dataclass(frozen=True)
class MilvusServer:
    """A Milvus that runs."""

    url: str
    port: int
    settings: Path
    """The file that it reads again when it is changed."""

    def admin(self) -> Any:
        """A client of its administrator."""
        from pymilvus import MilvusClient

        return MilvusClient(self.url, token=ROOT, timeout=10)

    def set_quota(self, mebibytes: str) -> None:
        """Let it hold so much, soon; `-1` for as much as there is room for."""
        text, count = re.subn(r"( +diskQuota:) \S+", rf"\1 {mebibytes}", self.settings.read_text("utf-8"))
        assert count == 1
        self.settings.write_text(text, "utf-8")


@contextmanager
def milvus_server() -> Iterator[MilvusServer]:
    """A Milvus whose callers have to say who they are."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, running_milvus(Path(folder), asks=True) as server:
        url = f"http://127.0.0.1:{server.listen_port}"
        yield MilvusServer(url, int(server.listen_port), Path(folder, "configs", "milvus.yaml"))


@contextmanager
def open_milvus() -> Iterator[str]:
    """The address of a Milvus whose callers may do everything."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, running_milvus(Path(folder)) as server:
        yield f"http://127.0.0.1:{server.listen_port}"


@contextmanager
def running_milvus(folder: Path, *, asks: bool = False) -> Iterator[Any]:
    """A Milvus, the only one of this machine: another would want some of its ports, so whoever comes next waits."""
    import fcntl

    from milvus import MilvusServer as Server

    with Path(gettempdir(), "ebbing-test-milvus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = Server()
        server.set_base_dir(str(folder))
        server.listen_port = free_port()
        server.config.set("authorization_enabled", asks)
        try:
            server.start()
            yield server
        finally:
            server.stop()
