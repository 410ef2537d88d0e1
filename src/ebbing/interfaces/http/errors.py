"""What went wrong, as `application/problem+json` (RFC 9457): a stable `code`, what happened, and what to do.

On mem0's paths the same body is sent as `application/json`.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ebbing.domain.errors import EbbingError
from ebbing.interfaces.http.chat_proxy.paths import is_proxy_path
from ebbing.interfaces.http.mem0.paths import is_mem0_path

MEDIA_TYPE: Final = "application/problem+json"
RETRY_SECONDS: Final = 2
"""How long to wait where nothing better is known."""

_log: Final = logging.getLogger("ebbing.http")


@dataclass(frozen=True, slots=True)
class Kind:
    """What an error is over HTTP."""

    status: int
    hint: str


HINTS: Final[Mapping[str, Kind]] = {
    # of the service itself
    "unauthorized": Kind(401, "send the header Authorization: Bearer KEY; `ebbing keys create` makes a key"),
    "forbidden": Kind(403, "use a credential with this right, or ask for less"),
    "unknown_host": Kind(421, "call it by localhost, add the name to EBBING_HTTP_ALLOWED_HOSTS, or set up auth"),
    "unknown_origin": Kind(403, "add the page's origin to EBBING_HTTP_CORS_ORIGINS"),
    "not_found": Kind(404, "see /docs or /openapi.json for what there is"),
    "method_not_allowed": Kind(405, "see /docs or /openapi.json for what there is"),
    "precondition_failed": Kind(412, "read it again, look at what changed, and send its new ETag"),
    "idempotency_in_progress": Kind(409, "wait as Retry-After says, then repeat the request"),
    "idempotency_mismatch": Kind(422, "take a new Idempotency-Key for a new request"),
    "rate_limited": Kind(429, "wait as Retry-After says"),
    "overloaded": Kind(503, "wait as Retry-After says"),
    "proxy_off": Kind(404, "set EBBING_PROXY_URL to an OpenAI-compatible endpoint, such as https://api.openai.com/v1"),
    "not_proxied": Kind(
        404, "let the host use chat completions under http://…/v1 here, and the endpoint's own address else"
    ),
    "endpoint_unavailable": Kind(502, "check EBBING_PROXY_URL, and that the endpoint answers"),
    "internal": Kind(500, "look for the request id in the service's log"),
    # of the memory: docs/errors.md says more about each
    "invalid_input": Kind(400, "mend what the detail names, then repeat"),
    "missing_owner": Kind(400, "say whose memory it is: user_id, agent_id or run_id"),
    "too_large": Kind(413, "send less at a time"),
    "blocked_content": Kind(422, "take it out of the text, or change EBBING_REDACTION"),
    "memory_not_found": Kind(404, "check the id and whose it is; a deleted memory may be restorable"),
    "identity_not_found": Kind(404, "check the channel and the name that the person has there"),
    "job_not_found": Kind(404, "check the id: GET /v1/jobs lists those that there are"),
    "conflict": Kind(409, "read it again, decide again, retry"),
    "change_not_found": Kind(404, "check the id; /v1/changes lists what can be undone"),
    "erased_for_good": Kind(410, "nothing: what was erased for good cannot be brought back"),
    "memory_closed": Kind(409, "restore the memory first, or undo the change that closed it"),
    "configuration": Kind(409, "change the setting that the detail names; `ebbing doctor` shows what is in force"),
    "missing_extra": Kind(409, "install what the detail names"),
    "store": Kind(503, "look at the cause in the service's log, then retry"),
    "store_not_found": Kind(503, "check EBBING_PATH: there is no store in that directory"),
    "store_closed": Kind(503, "the service is stopping: retry when it is back"),
    "schema": Kind(503, "look at the cause in the service's log"),
    "embedding": Kind(503, "look at the embedder's settings with `ebbing doctor`, then retry"),
    "vector_index_failed": Kind(503, "see the service's log; a search compares every row meanwhile"),
    "graph_mirror_failed": Kind(503, "see the service's log; memories go on without the graph server"),
    "rerank": Kind(503, "retry; searches go on without a reranker"),
    "model": Kind(503, "retry later"),
    "model_unavailable": Kind(503, "retry later"),
    "model_timeout": Kind(503, "retry later"),
    "model_refused": Kind(503, "look at the language model's settings with `ebbing doctor`"),
    "bad_model_output": Kind(503, "retry, or take a larger model"),
    "memory_server": Kind(502, "look at the other service's log"),
    "server_unavailable": Kind(503, "retry later"),
    "error": Kind(500, "look for the request id in the service's log"),
}
"""Every code that an answer can have."""

_OF_ROUTING: Final = {
    404: ("not_found", "there is no such route"),
    405: ("method_not_allowed", "this route does not know the method; Allow names those that it knows"),
}


class ProblemError(Exception):
    """What the service itself refuses, beside the errors of the memory."""

    def __init__(
        self, code: str, detail: str, *, headers: Mapping[str, str] | None = None, status: int | None = None
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(code, detail, status or HINTS[code].status, dict(headers or {}))


def media_type_of(path: str) -> str:
    """Return what errors of a path are sent as."""
    return "application/json" if is_mem0_path(path) or is_proxy_path(path) else MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal, ready to be sent."""

    code: str
    detail: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    errors: tuple[dict[str, str], ...] = ()
    """For a body that does not fit: `where` and `what`, one for each place."""

    def response(self, path: str, *, request_id: str | None = None) -> Response:
        """Return the answer: problem+json, but plain JSON on mem0's paths, whose Python client reads no other.

        On the proxy's paths it is plain JSON too, and holds the same once more as OpenAI's clients read it.

        Args:
            path: where the request went.
            request_id: finds the request in the log.
        """
        body: dict[str, Any] = {
            "type": f"urn:ebbing:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "hint": HINTS[self.code].hint,
        }
        if self.errors:
            body["errors"] = list(self.errors)
        if request_id is not None and self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            body["request_id"] = request_id
        if is_proxy_path(path):  # what OpenAI's clients read
            message = f"{self.detail}: {HINTS[self.code].hint}"
            body["error"] = {"message": message, "type": "ebbing_error", "param": None, "code": self.code}
        media_type = media_type_of(path)
        return Response(json.dumps(body, ensure_ascii=False), self.status, self.headers, media_type)


class ProblemBody(BaseModel):
    """The form of every error, for the OpenAPI document."""

    type: str = Field(examples=["urn:ebbing:problem:memory_not_found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(examples=["memory_not_found"], description="Stable, for programs.")
    detail: str = Field(description="What happened; never a person's text.")
    hint: str = Field(description="What to do.")
    errors: list[dict[str, str]] = Field(default=[], description="Places of a body that do not fit.")
    error: dict[str, Any] | None = Field(default=None, description="The same for OpenAI's clients, on their paths.")
    request_id: str | None = Field(default=None, description="Finds the request in the service's log.")


def problem_of(error: Exception) -> Problem:
    """What an error is over HTTP; one that nobody foresaw says nothing of itself."""
    if isinstance(error, ProblemError):
        return error.problem
    if isinstance(error, RequestValidationError):
        return _misfit(error)
    if isinstance(error, EbbingError):
        status = HINTS[error.code].status if error.code in HINTS else HTTPStatus.INTERNAL_SERVER_ERROR
        headers: dict[str, str] = {}
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            seconds = getattr(error, "retry_after_seconds", None)
            headers["Retry-After"] = str(max(1, round(seconds or RETRY_SECONDS)))
        if status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="ebbing"'
        return Problem(error.code, str(error), status, headers)
    if isinstance(error, HTTPException) and isinstance(error.__cause__, ProblemError):
        return error.__cause__.problem  # what stopped the body while FastAPI read it
    if isinstance(error, HTTPException):
        code, detail = _OF_ROUTING.get(error.status_code, ("invalid_input", str(error.detail)))
        return Problem(code, detail, error.status_code, dict(error.headers or {}))
    return Problem("internal", "the service failed on this request, and nothing of it was told to anybody", 500)


def install(app: FastAPI) -> None:
    """Answers every error of the routes as a problem."""
    for kind in (ProblemError, RequestValidationError, EbbingError, HTTPException, Exception):
        app.add_exception_handler(kind, _answer)


def report(error: Exception, request_id: str) -> None:
    """Logs an error that nobody foresaw: its kind and place, never its words, which may hold a person's."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    _log.error("unexpected %s at %s, request %s", type(error).__name__, place, request_id)


async def _answer(request: Request, error: Exception) -> Response:
    scope = request.scope
    return problem_of(error).response(scope["path"], request_id=scope.get("state", {}).get("request_id"))


def _misfit(error: RequestValidationError) -> Problem:
    """A body or query that does not fit; what was sent is not repeated."""
    misfits = tuple(
        {"where": ".".join(str(part) for part in item["loc"]), "what": str(item["msg"])} for item in error.errors()
    )
    first = misfits[0] if misfits else {"where": "body", "what": "it does not fit"}
    more = f", and {len(misfits) - 1} more" if len(misfits) > 1 else ""
    return Problem("invalid_input", f"{first['where']}: {first['what']}{more}", 400, errors=misfits)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of a route for its OpenAPI entry, beside those that every route may answer with."""
    every = {400, 401, 403, 404, 405, 409, 413, 421, 422, 429, 500, 503, *statuses}
    schema = {"schema": {"$ref": "#/components/schemas/ProblemBody"}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: schema}} for status in sorted(every)
    }
