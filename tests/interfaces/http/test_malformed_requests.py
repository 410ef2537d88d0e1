"""Requests that no client would send are refused, and never taken for a failure of the service."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.live_service import served

Ask = Callable[..., int]
ODD_TEXT = st.text("[]:@/%?#. \tahost9。ℂ", max_size=12)
ODD = st.one_of(ODD_TEXT.map(lambda text: text.encode()), st.binary(max_size=12))
TARGETS = (b"[", b"//[", b"//[::1", b"http://[/v1", b"/%", b"/%ff", b"/?%", b"//]:0/", b"/v1/graph?user_id=\xff")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Send a request past every layer of the service, with what no HTTP client would let through."""
    app = create_app(
        AsyncMemory(components=build(load_settings({"embedder": "none", "store": "ephemeral", "worker": False})))
    )

    def send(path: str, *, raw_path: bytes, query: bytes, headers: list[tuple[bytes, bytes]]) -> int:
        statuses: list[int] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b'{"user_id": "emma", "query": "x"}', "more_body": False}

        async def note(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": headers,
            "client": ("127.0.0.1", 5_000),
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "server": ("127.0.0.1", 80),
        }
        runner.run(app(scope, receive, note))
        return statuses[0]

    with asyncio.Runner() as runner:
        yield send


@settings(max_examples=150)
@example(host=b"[", origin=b"")
@example(host=b"[::1", origin=b"")
@example(host=b"localhost", origin=b"http://[")
@given(host=ODD, origin=ODD)
def test_no_host_and_no_origin_makes_the_service_fail(ask: Ask, host: bytes, origin: bytes) -> None:
    headers = [(b"host", host), (b"origin", origin), (b"content-type", b"application/json")]
    status = ask("/v1/memories/search", raw_path=b"/v1/memories/search", query=b"", headers=headers)
    assert status in {200, 400, 403, 421}, (host, origin)


def test_a_host_that_cannot_be_read_is_a_bad_request(ask: Ask) -> None:
    assert ask("/v1/memories/search", raw_path=b"", query=b"", headers=[(b"host", b"[")]) == 400


@settings(max_examples=150)
@given(tail=ODD, query=ODD)
def test_no_request_target_makes_the_service_fail(ask: Ask, tail: bytes, query: bytes) -> None:
    for start in (b"/v1/memories/", b"/v2/entities/user/", b"/"):
        path = (start + tail).decode("utf-8", "replace")
        status = ask(path, raw_path=start + tail, query=query, headers=[(b"host", b"localhost")])
        assert status < 500, (start, tail, query)


@pytest.mark.slow
def test_the_running_service_survives_malformed_request_lines(tmp_path: Path) -> None:
    with served(tmp_path, settings={"EBBING_EMBEDDER": "none"}) as running:
        port = int(running.address.rsplit(":", 1)[1])
        for target in TARGETS:
            for host in (b"localhost", b"[", b"a b"):
                with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                    connection.sendall(b"GET %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % (target, host))
                    answer = connection.recv(64)
                assert re.match(rb"HTTP/1\.1 [24]\d\d ", answer), (target, host, answer)
