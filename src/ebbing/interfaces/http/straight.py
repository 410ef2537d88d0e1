"""A shorter way to the routes that are called most.

FastAPI documents them and would answer the same; a plain route in front of it spares what FastAPI does for routes in
general, which costs as much as the rest of a small search (`python -m evals http`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ebbing.domain.access import Role
from ebbing.interfaces.http.caller import Caller, caller_of

Model = TypeVar("Model", bound=BaseModel)
Endpoint = Callable[[Caller, Model], Awaitable[Response]]


def posted(path: str, endpoint: Endpoint[Model], *, role: Role, model: type[Model]) -> Route:
    """The way to an endpoint that takes a caller and a body."""

    async def answer(request: Request) -> Response:
        caller = caller_of(request, role)
        try:
            body = model.model_validate_json(await request.body())
        except ValidationError as error:
            raise _misfit(error, "body") from None
        return await endpoint(caller, body)

    return Route(path, answer, methods=["POST"])


def queried(path: str, endpoint: Endpoint[Model], *, role: Role, model: type[Model]) -> Route:
    """The way to an endpoint that takes a caller and a query."""

    async def answer(request: Request) -> Response:
        caller = caller_of(request, role)
        try:
            query = model.model_validate(dict(request.query_params))
        except ValidationError as error:
            raise _misfit(error, "query") from None
        return await endpoint(caller, query)

    return Route(path, answer, methods=["GET"])


def _misfit(error: ValidationError, where: str) -> RequestValidationError:
    found: list[Any] = [
        {**one, "loc": (where, *one["loc"])}
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return RequestValidationError(found)
