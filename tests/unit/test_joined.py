"""What uvicorn writes in one turn of the loop leaves together, in order, and before the connection closes."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from ebbing.interfaces.http.joined import Joining


class Line:
    """A transport that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[bytes | str] = []

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
