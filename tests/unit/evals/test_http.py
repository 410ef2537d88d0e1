"""The client and the bare route of `python -m evals http`: what they measure with must itself be right."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from evals.http.plain import application
from evals.http.wire import Connection, request

pytestmark = pytest.mark.anyio

BODY = {"user_id": "emma", "query": "茶？"}
ANSWER = json.dumps({"memories": [{"text": "绿茶", "score": 0.5}]}, ensure_ascii=False)


async def test_answers_are_read_however_they_are_cut_and_a_closed_connection_is_an_error() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for status, content in (("200 OK", ANSWER.encode()), ("503 Service Unavailable", b"")):
            head = await reader.readuntil(b"\r\n\r\n")
            assert json.loads(await reader.readexactly(int(head.split(b"content-length: ")[1]))) == BODY
            said = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
            for part in (said[:5], said[5:30], said[30:-1], said[-1:]):
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0.005)
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        connection = await Connection.to(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        asked = request("POST", "/v1/memories/search", BODY)
        assert await connection.send(asked) == (200, ANSWER.encode())
        assert await connection.send(asked) == (503, b"")
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await connection.send(asked)


async def test_the_bare_routes_return_what_the_service_answered() -> None:
    body = json.dumps(BODY, ensure_ascii=False)
    transport = httpx.ASGITransport(application({body: ANSWER}))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        plain, usual = [
            await client.post(path, content=body.encode(), headers={"content-type": "application/json"})
            for path in ("/plain", "/usual")
        ]
    assert plain.text == ANSWER
    assert usual.json() == json.loads(ANSWER)
