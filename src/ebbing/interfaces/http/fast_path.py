"""A shorter way to the routes that are called most.

FastAPI documents them and would answer the same; a way past it spares what FastAPI does for routes in general, which
costs more than the rest of the service (`python -m evals http`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import parse_qsl

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ebbing.domain.access_roles import Role
from ebbing.interfaces.http.request_context import Caller, Memories, caller_in

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Way(Generic[Model]):
    """The way to an endpoint that takes a caller and a body, or a query."""

    method: Literal["GET", "POST"]
    path: str
    endpoint: Callable[[Caller, Model], Awaitable[Response]]
    role: Role
    model: type[Model]

    async def answer(self, caller: Caller, *, scope: Scope, receive: Receive) -> Response:
        """What the endpoint says.

        Raises:
            RequestValidationError: the body or query is not as the model wants it.
        """
        try:
            if self.method == "POST":
                sent = self.model.model_validate_json(await _body(receive))
            else:
                pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
                sent = self.model.model_validate(dict(pairs))
        except ValidationError as error:
            raise _misfit(error, "body" if self.method == "POST" else "query") from None
        return await self.endpoint(caller, sent)


class Straight:
    """Stands before FastAPI and answers what it has a way for; its errors are for the gate to put into words."""

    def __init__(self, app: ASGIApp, *, memories: Memories, ways: Sequence[Way[Any]]) -> None:
        self._app, self._memories = app, memories
        self._ways = {(way.method, way.path): way for way in ways}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or hands it on."""
        way = self._ways.get((scope["method"], scope["path"]))
        if way is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = way
        answer = await way.answer(caller_in(scope, self._memories, role=way.role), scope=scope, receive=receive)
        await answer(scope, receive, send)


async def _body(receive: Receive) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        return bytes(message.get("body", b""))
    parts = bytearray()
    while message["type"] == "http.request":
        parts += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(parts)
        message = await receive()
    raise ClientDisconnect


def _misfit(error: ValidationError, where: str) -> RequestValidationError:
    found: list[Any] = [
        {**one, "loc": (where, *one["loc"])}
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return RequestValidationError(found)
