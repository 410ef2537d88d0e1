"""What the routes under `/v1` answer: the façade's dicts with `text` for a memory's words, encoded once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

Item = dict[str, Any]

_FIRST: Final = ("score", "tags", "created_at")


def encoded(body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer whose body is encoded once, without a response model."""
    return Response(_json(body), status_code=status, headers=headers, media_type="application/json")


def _json(body: object) -> bytes:
    try:
        return to_json(body, inf_nan_mode="null")
    except PydanticSerializationError:  # half of a pair of surrogates, which no UTF-8 can hold
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "replace")


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
    results = [{"id": result["id"], "text": result["memory"], **_without_memory(result)} for result in added["results"]]
    stored_ids = (result["id"] for result in results if result["id"] is not None)
    rest = {name: value for name, value in added.items() if name != "results"}
    return {"id": next(stored_ids, None), "results": results, **rest}


def accepted(later: Mapping[str, Any]) -> Response:
    """It will be done; the job tells when, and what became of it."""
    where = f"/v1/jobs/{later['job_id']}"
    body = {**later, "status": "accepted", "status_url": where}
    return encoded(body, status=202, headers={"Location": where, "Preference-Applied": "respond-async"})


def _without_memory(item: Mapping[str, Any]) -> Item:
    return {name: value for name, value in item.items() if name not in {"id", "memory"}}
