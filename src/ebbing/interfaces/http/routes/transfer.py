"""`/v1/export` and `/v1/import`: everything of somebody as lines of JSON, as it comes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import Query, Request
from starlette.responses import Response, StreamingResponse

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.interfaces.http.request_context import Caller, OwnerParams, Reader, Writer
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import Item, encoded
from ebbing.results import ExportPage

LINES: Final = "application/x-ndjson"
AT_ONCE: Final = 500
"""Records that are stored together."""
MAX_LINE_BYTES: Final = 2**20
_SHOWN_REFUSALS: Final = 1_000
"""Refused records that are named in the answer."""

router = operations("moving", prefix="/v1")

Name = Annotated[str | None, Query()]


@router.get("/export", response_class=Response, responses={200: {"content": {LINES: {}}}})
async def export_memories(
    caller: Reader, *, user_id: Name = None, agent_id: Name = None, run_id: Name = None
) -> StreamingResponse:
    """Export all records of a user, agent or run, one JSON record a line.

    The newest come first; superseded and deleted records are included.
    """
    owner = caller.owner_ids(user_id, agent_id, run_id=run_id)
    first = await caller.memory.export(**owner)  # what is wrong with the call is told before the answer begins
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(_lines(caller, owner, page=first), headers=headers, media_type=LINES)


@router.post(
    "/import",
    response_model=ObjectResponse,
    openapi_extra={"requestBody": {"content": {LINES: {"schema": {"type": "string"}}}, "required": True}},
)
async def import_memories(caller: Writer, request: Request, *, user_id: Name = None) -> Response:
    """Import exported records. Records that are already stored stay as they are.

    With `user_id` all records become that user's; without it they keep their owner. A line that cannot be used is
    reported and does not stop the others. Records before a broken connection are stored; sending them again is safe.
    """
    taking = _Intake(caller, caller.user(user_id))
    rest = b""
    async for chunk in request.stream():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            await taking.take(line)
        if len(rest) > MAX_LINE_BYTES:
            raise TooLargeError(f"a line is longer than {MAX_LINE_BYTES:,} bytes: is it one record a line?")
    await taking.take(rest)
    return encoded(await taking.finish())


async def _lines(caller: Caller, owner: OwnerParams, *, page: ExportPage) -> AsyncIterator[bytes]:
    while True:
        yield b"".join(
            json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for record in page["records"]
        )
        if page["next_cursor"] is None:
            return
        page = await caller.memory.export(**owner, cursor=page["next_cursor"])


class _Intake:
    """Stores the lines of a request, some at a time."""

    def __init__(self, caller: Caller, user_id: str | None) -> None:
        self._caller, self._user_id = caller, user_id
        self._waiting: list[tuple[int, Any]] = []
        self._line = 0
        self._imported = self._already_stored = 0
        self._change_ids: list[str] = []
        self._refused: list[tuple[int, str]] = []

    async def take(self, line: bytes) -> None:
        """Takes one line; empty ones count only."""
        self._line += 1
        if not line.strip():
            return
        try:
            self._waiting.append((self._line, json.loads(line)))
        except (ValueError, RecursionError):
            self._refused.append((self._line, "the line is no JSON"))
        if len(self._waiting) >= AT_ONCE:
            await self._store()

    async def finish(self) -> Item:
        """Stores what is left, and tells what became of all."""
        await self._store()
        if not self._line or (self._line == 1 and not any((self._imported, self._already_stored, self._refused))):
            raise InvalidInputError("the body is empty: send exported records, one JSON object a line")
        refused = [{"line": line, "reason": reason} for line, reason in sorted(self._refused)[:_SHOWN_REFUSALS]]
        return {
            "imported": self._imported,
            "already_stored": self._already_stored,
            "refused": refused,
            "refused_count": len(self._refused),
            "change_ids": self._change_ids,
        }

    async def _store(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        records = [record for _, record in batch]
        done = await self._caller.memory.import_(records, user_id=self._user_id, change_ids=self._change_ids)
        self._change_ids = done["change_ids"]
        self._imported += done["imported"]
        self._already_stored += done["already_stored"]
        self._refused += [(batch[item["record"]][0], item["reason"]) for item in done["refused"]]
