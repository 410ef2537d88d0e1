"""What the routes under `/v1` answer: the façade's dicts with `text` for a memory's words, encoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

Item = dict[str, Any]

_FIRST: Final = ("id", "score", "tags", "created_at")
_LEFT_OUT: Final = frozenset({"memory", "hash", "context", *_FIRST})


def encoded(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The answer as bytes of JSON, made without asking a model of the body what it looks like."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, headers, "application/json")


def memory_out(item: Mapping[str, Any]) -> Item:
    """A memory: `id`, `text`, `score` where there is one, `tags`, `created_at`, and all else that the façade tells."""
    made: Item = {"id": item["id"], "text": item["memory"]}
    for name in _FIRST[1:]:
        if name in item:
            made[name] = item[name]
    for name, value in item.items():
        if name not in _LEFT_OUT:
            made[name] = value
    if "context" in item:
        made["context"] = [memory_out(turn) for turn in item["context"]]
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
