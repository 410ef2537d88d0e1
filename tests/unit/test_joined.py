"""What uvicorn writes in one turn of the loop leaves together, in order, and before the connection closes.

An answer that passes without messages is the one that they would have made.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Sequence
from typing import Any, Final, cast

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from ebbing.adapters.clock import SystemClock
from ebbing.adapters.ids import TimeOrderedIds
from ebbing.interfaces.http import access_log as observed
from ebbing.interfaces.http import responses as answers
from ebbing.interfaces.http.access_log import Observed
from ebbing.interfaces.http.response_writer import Joining, JoiningProtocol, whole_of
from ebbing.interfaces.http.responses import encoded
from ebbing.observe.logs import Lines, TextLines
from ebbing.testing.clock import ManualClock

TRACE: Final = b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ASKED: Final = b"GET / HTTP/1.1\r\nhost: a\r\nx-request-id: one\r\n" + TRACE


class Line:
    """A transport that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[bytes | str] = []

    def get_extra_info(self, name: str) -> object:
        return ("127.0.0.1", 1) if name in {"sockname", "peername"} else None

    def pause_reading(self) -> None:
        """Others wait until the first is answered."""

    resume_reading = pause_reading

    def write(self, data: bytes) -> None:
        self.told.append(data)

    def close(self) -> None:
        self.told.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.told


def line() -> tuple[Line, Any]:
    under = Line()
    return under, Joining(cast("asyncio.Transport", under))


def test_head_and_body_leave_together_at_the_end_of_the_turn() -> None:
    async def answer() -> list[bytes | str]:
        under, transport = line()
        transport.write(b"head ")
        transport.write(b"body")
        assert under.told == []
        await asyncio.sleep(0)
        transport.write(b"more")
        await asyncio.sleep(0)
        return under.told

    assert asyncio.run(answer()) == [b"head body", b"more"]


def test_nothing_is_lost_when_it_closes_and_nothing_comes_behind() -> None:
    async def answer() -> list[bytes | str]:
        under, transport = line()
        transport.write(b"last")
        transport.close()
        await asyncio.sleep(0)
        assert transport.is_closing()
        return under.told

    assert asyncio.run(answer()) == [b"last", "closed"]


def test_a_stream_does_not_pile_up() -> None:
    async def answer() -> list[bytes | str]:
        under, transport = line()
        for _ in range(3):
            transport.write(b"a" * 40_000)
        return under.told

    assert [len(piece) for piece in asyncio.run(answer())] == [80_000, 40_000]


def answered(app: ASGIApp, *requests: bytes) -> list[bytes | str]:
    """What leaves when these come in at once."""

    async def run() -> list[bytes | str]:
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
        config.load()
        state, line = ServerState(), Line()
        state.default_headers = [(b"date", b"today")]
        protocol = JoiningProtocol(config, state, {})
        protocol.connection_made(cast("asyncio.Transport", line))
        protocol.data_received(b"".join(requests))
        for _ in range(20):  # turns of the loop
            await asyncio.sleep(0)
        assert not state.tasks
        told = line.told.copy()
        protocol.connection_lost(None)
        return told

    return asyncio.run(run())


def watched(app: ASGIApp) -> tuple[ASGIApp, list[dict[str, Any]]]:
    """The app behind the layer that names requests, and the state of each."""
    states = []

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        states.append(scope["state"])
        await app(scope, receive, send)

    return Observed(noted, meter=None, clock=SystemClock(), ids=TimeOrderedIds(), key=b""), states


@pytest.mark.parametrize("end", [b"", b"\r\nconnection: close"])
def test_an_answer_without_messages_is_the_one_with_them(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def comparable(told: Sequence[bytes | str]) -> list[bytes | str]:
        """Each answer with its headers in alphabetical order, and each trace without the span that it drew."""
        return [_sorted(one) if isinstance(one, bytes) else one for one in told]

    def _sorted(answer: bytes) -> bytes:
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        bare = [line[:49] if line.startswith(b"traceparent") else line for line in lines]
        return b"\n".join((first, *sorted(bare), body))

    for status in (200, 404):
        app, states = watched(encoded({"tea": "茶"}, status=status))
        at_once = answered(app, ASKED + end + b"\r\n\r\n")
        with monkeypatch.context() as patch:
            for module in (answers, observed):
                patch.setattr(module, "whole_of", lambda _: None)
            with_messages = answered(app, ASKED + end + b"\r\n\r\n")
        assert comparable(at_once) == comparable(with_messages)
        assert [state["status"] for state in states] == [status, status]
        assert b"x-request-id: one\r\n" in at_once[0]  # type: ignore[operator]  # bytes


def test_it_passes_without_messages_only_where_nobody_has_to_see_them() -> None:
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def watching(message: Any) -> None:
            seen.append(message["type"])
            await send(message)

        assert whole_of(send) is not None
        assert whole_of(watching) is None
        await encoded({})(scope, receive, watching if scope["path"] == "/seen" else send)

    for path in (b"/", b"/seen"):
        [told] = answered(app, b"GET %b HTTP/1.1\r\n\r\n" % path)
        assert bytes(told).endswith(b"\r\n\r\n{}")  # type: ignore[arg-type]  # bytes
    assert seen == ["http.response.start", "http.response.body"]


def test_headers_that_somebody_added_are_sent() -> None:
    more = encoded({}, headers={"Location": "/there"})
    touched = encoded({})
    touched.headers["x-more"] = "1"
    assert b"location: /there\r\n" in answered(more, b"GET / HTTP/1.1\r\n\r\n")[0]  # type: ignore[operator]  # bytes
    assert b"x-more: 1\r\n" in answered(touched, b"GET / HTTP/1.1\r\n\r\n")[0]  # type: ignore[operator]  # bytes


def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await encoded(scope["path"])(scope, receive, send)

    told = answered(app, *(b"GET /%d HTTP/1.1\r\n\r\n" % number for number in range(3)))
    whole = b"".join(one for one in told if isinstance(one, bytes))
    assert [part[-4:] for part in whole.split(b"HTTP/1.1 200 OK\r\n")[1:]] == [b'"/0"', b'"/1"', b'"/2"']


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_the_answer_to_a_head_has_no_body(version: bytes) -> None:
    told = answered(encoded({"tea": 1}), b"HEAD / HTTP/%b\r\n\r\n" % version)
    assert bytes(told[0]).endswith(b"\r\n\r\n")  # type: ignore[arg-type]  # bytes
    assert ("closed" in told) == (version == b"1.0")


def test_the_line_of_a_request_is_the_one_that_a_record_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(formatter: logging.Formatter) -> str:
        stream, log = io.StringIO(), logging.getLogger("ebbing.access")
        lines = Lines(stream)
        lines.setFormatter(formatter)
        with monkeypatch.context() as patch:
            patch.setattr(log, "handlers", [lines])
            patch.setattr(log, "propagate", False)
            patch.setattr(log, "level", logging.INFO)
            log._cache.clear()  # type: ignore[attr-defined]  # what is enabled
            app = Observed(encoded({}), meter=None, clock=ManualClock(), ids=TimeOrderedIds(), key=b"")
            answered(app, b"GET /somebody HTTP/1.1\r\n\r\n")
            lines.flush()
        log._cache.clear()  # type: ignore[attr-defined]
        return stream.getvalue()

    class Longer(TextLines):
        """Whoever writes lines otherwise is given the record."""

    assert told(TextLines()) == told(Longer()) != ""
    assert told(TextLines()).endswith(" INFO ebbing.access: GET (no route) 200\n")


def test_a_connection_closes_when_nothing_came_for_long_and_not_before() -> None:
    async def run() -> list[bool]:
        config = uvicorn.Config(encoded({}), lifespan="off", log_config=None, access_log=False, timeout_keep_alive=1)
        config.load()
        line = Line()
        protocol = JoiningProtocol(config, ServerState(), {})
        protocol.timeout_keep_alive = 0.2  # type: ignore[assignment]  # uvicorn knows whole seconds only
        protocol.connection_made(cast("asyncio.Transport", line))
        open_still = []
        for _ in range(4):
            protocol.data_received(b"GET / HTTP/1.1\r\n\r\n")
            await asyncio.sleep(0.1)
            open_still.append(not line.is_closing())
        await asyncio.sleep(0.3)
        open_still.append(not line.is_closing())
        return open_still

    assert asyncio.run(run()) == [True] * 4 + [False]


def test_a_long_answer_is_not_cut_off_by_what_came_before() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await asyncio.sleep(0.2)
        await encoded({})(scope, receive, send)

    async def run() -> list[bytes | str]:
        config = uvicorn.Config(slow, lifespan="off", log_config=None, access_log=False)
        config.load()
        line = Line()
        protocol = JoiningProtocol(config, ServerState(), {})
        protocol.timeout_keep_alive = 0.05  # type: ignore[assignment]  # uvicorn knows whole seconds only
        protocol.connection_made(cast("asyncio.Transport", line))
        for path in (b"/", b"/slow"):
            protocol.data_received(b"GET %b HTTP/1.1\r\n\r\n" % path)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.22)
        return line.told

    told = asyncio.run(run())
    assert len(told) == 2
    assert "closed" not in told
