"""What the routes under `/v1` answer: the façade's dicts with `text` for a memory's words, encoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ebbing.domain.memory.record import MemoryRecord
from ebbing.interfaces.http.response_writer import whole_of
from ebbing.recall.search import Answer
from ebbing.results import memory_item

Item = dict[str, Any]

_FIRST: Final = ("score", "tags", "created_at")


def encoded(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The answer as bytes of JSON, made without asking a model of the body what it looks like."""
    return Encoded(_json(body), status=status, headers=headers)


def found_out(found: Answer) -> Response:
    """What a search found, with what is the same in every answer written once, and copied once."""
    written = {} if found.written is None else found.written
    names, parts = found.routes, [b'{"memories":[']
    every = _form((*names,))
    given = [*zip(*names.values(), strict=False)] or [()] * len(found.records)
    numbers = zip(found.ranked.scores, *names.values(), strict=False)
    for record, same, gave, told in zip(found.records, found.repeat_ids, given, numbers, strict=False):
        front, back = written.get(record.id) or written.setdefault(record.id, _written(record))
        if same:
            back = b'%b,"repeat_ids":%b}' % (back[:-1], _json(same))
        if all(gave):
            parts += (front, every % told, back, b",")
        else:
            parts += (front, _form((*compress(names, gave),)) % (told[0], *filter(None, gave)), back, b",")
    if len(parts) > 1:
        parts.pop()
    more = b"" if not found.dropped else b',"dropped":%b' % _json(found.dropped)
    # An id is a UUID's text: nothing in it is written otherwise in JSON.
    parts.append(b'],"recall_id":"%b"%b}' % (found.recall_id.encode(), more))
    return Encoded(b"".join(parts), status=200, headers=None)


@lru_cache(maxsize=64)
def _form(routes: tuple[str, ...]) -> bytes:
    """How a memory's score stands in its JSON, and what these routes gave."""
    each = ",".join(f'"{name}":%.4f' for name in routes)
    return b'"score":%%.4f,"routes":{%b}' % each.encode()


def _json(body: object) -> bytes:
    try:
        return to_json(body, inf_nan_mode="null")
    except PydanticSerializationError:  # half of a pair of surrogates, which no UTF-8 can hold
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "replace")


def _written(record: MemoryRecord) -> tuple[bytes, bytes]:
    """The JSON of a memory before and after what an answer says of it."""
    rest = memory_out(memory_item(record))
    front = {"id": rest.pop("id"), "text": rest.pop("text")}
    return _json(front)[:-1] + b",", b"," + _json(rest)[1:]


class Encoded(Response):
    """Bytes of JSON as they go out, for what Starlette spends on making sure of them."""

    media_type = "application/json"

    def __init__(self, content: bytes, *, status: int, headers: Mapping[str, str] | None) -> None:
        self.body, self.status_code, self.background = content, status, None
        self._more = headers

    @cached_property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:  # type: ignore[override]  # for most answers nobody asks
        """As messages carry them."""
        made = [(b"content-length", b"%d" % len(self.body)), (b"content-type", b"application/json")]
        if self._more:
            made += [(name.lower().encode(), value.encode("latin-1")) for name, value in self._more.items()]
        return made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it, without messages where nobody wants to see them or has looked at its headers."""
        is_plain = not self._more and self.background is None and "raw_headers" not in vars(self)
        if is_plain and (whole := whole_of(send)) is not None:
            headers = b"content-length: %d\r\ncontent-type: application/json\r\n" % len(self.body)
            if whole(self.status_code, headers, body=bytes(self.body)):
                return
        await super().__call__(scope, receive, send)


def memory_out(item: Mapping[str, Any]) -> Item:
    """A memory: `id`, `text`, `score` where there is one, `tags`, `created_at`, and all else that the façade tells."""
    made: Item = {"id": item["id"], "text": item["memory"]}
    for name in _FIRST:
        if name in item:
            made[name] = item[name]
    made.update(item)
    del made["memory"]
    made.pop("hash", None)
    if "context" in made:
        made["context"] = [memory_out(turn) for turn in made["context"]]
    return made


def added_out(added: Mapping[str, Any]) -> Item:
    """What became of an add: `id` of the first memory that holds it, and each result with its `text`."""
    results = [{"id": one["id"], "text": one["memory"], **_without_memory(one)} for one in added["results"]]
    held = (one["id"] for one in results if one["id"] is not None)
    rest = {name: value for name, value in added.items() if name != "results"}
    return {"id": next(held, None), "results": results, **rest}


def accepted(job_id: int) -> Response:
    """It will be done; the job tells when, and what became of it."""
    where = f"/v1/jobs/{job_id}"
    body = {"job_id": job_id, "status": "accepted", "status_url": where}
    return encoded(body, status=202, headers={"Location": where, "Preference-Applied": "respond-async"})


def _without_memory(item: Mapping[str, Any]) -> Item:
    return {name: value for name, value in item.items() if name not in {"id", "memory"}}
