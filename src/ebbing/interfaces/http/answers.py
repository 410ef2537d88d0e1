"""What the routes under `/v1` answer: the façade's dicts with `text` for a memory's words, encoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from ebbing.language.kept import Keeping

Item = dict[str, Any]

_FIRST: Final = ("score", "tags", "created_at")


def encoded(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The answer as bytes of JSON, made without asking a model of the body what it looks like."""
    return Encoded(_json(body), status=status, headers=headers)


def found_out(found: Mapping[str, Any]) -> Response:
    """What a search found, as `encoded` would send it, with what is the same in every answer written once."""
    rest = {name: value for name, value in found.items() if name != "results"}
    memories = b",".join(map(_hit_json, found["results"]))
    return Encoded(b'{"memories":[%b],%b' % (memories, _json(rest)[1:]), status=200, headers=None)


def _json(body: object) -> bytes:
    try:
        return to_json(body, inf_nan_mode="null")
    except PydanticSerializationError:  # half of a pair of surrogates, which no UTF-8 can hold
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "replace")


class _Written(NamedTuple):
    """The JSON of a memory around what each answer says of it."""

    made_at: str
    """The `created_at` of the item that it was written from: the façade copies items from one that it keeps until the
    record changes, so that this very string is in no item that says anything else."""
    keys: int
    before_score: bytes
    before_routes: bytes


_WRITTEN: Final[Keeping[str, _Written]] = Keeping(8_192)
_OF_ONE_ANSWER: Final = frozenset({"repeat_ids", "context", "why", "score_details"})


def _hit_json(item: Mapping[str, Any]) -> bytes:
    known = _WRITTEN.get(item["id"])
    if known is None or known.made_at is not item["created_at"] or known.keys != len(item):
        if not _OF_ONE_ANSWER.isdisjoint(item):
            return _json(memory_out(item))
        known = _WRITTEN.keep(item["id"], _written(item))
    return b"%b%r%b%b}" % (known.before_score, item["score"], known.before_routes, to_json(item["routes"]))


def _written(item: Mapping[str, Any]) -> _Written:
    rest = memory_out(item)
    front = {"id": rest.pop("id"), "text": rest.pop("text")}
    del rest["score"], rest["routes"]
    before_score = b'%b,"score":' % _json(front)[:-1]
    return _Written(item["created_at"], len(item), before_score, b',%b,"routes":' % _json(rest)[1:-1])


class Encoded(Response):
    """Bytes of JSON as they go out, for what Starlette spends on making sure of them."""

    media_type = "application/json"

    def __init__(self, content: bytes, *, status: int, headers: Mapping[str, str] | None) -> None:
        self.body, self.status_code, self.background = content, status, None
        self.raw_headers = [(b"content-length", b"%d" % len(content)), (b"content-type", b"application/json")]
        if headers:
            self.raw_headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


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
