"""What all routes have in common: a name for programs, and ids of any characters in the path."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.errors import documented

_PREFIXES: Final = {"mem0 platform": "mem0_", "mem0 open source": "mem0_oss_"}
_OF_EVERY_MEM0_CALL: Final = frozenset({"org_id", "project_id"})
"""What mem0's clients put into any query; the credential alone says which tenant is meant."""
_SLASH: Final = "\udc2f"
"""Stands for an encoded slash until a route is found: no text in UTF-8 can hold it."""


def operation_id(route: APIRoute) -> str:
    """Name the operation of a route for generated clients."""
    tag = str(route.tags[0]) if route.tags else ""
    return _PREFIXES.get(tag, "") + route.name


def split_by_literal_slashes(scope: Scope) -> None:
    """Keep the encoded slashes of a path apart from those that separate its parts."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        segments = raw.decode("ascii", "replace").split("/")
        scope["path"] = "/".join(unquote(segment).replace("/", _SLASH) for segment in segments)


class Operation(APIRoute):
    """A route whose ids may hold slashes, sent as `%2F`, and that refuses arguments which it does not know."""

    @cached_property
    def _known_arguments(self) -> frozenset[str]:
        names = {name for parameter in _query_parameters(self.dependant) for name in _names_of(parameter)}
        of_mem0 = any(str(tag) in _PREFIXES for tag in self.tags)
        return frozenset(names | _OF_EVERY_MEM0_CALL) if of_mem0 else frozenset(names)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        inner = super().get_route_handler()

        async def answer(request: Request) -> Response:
            if request.scope["query_string"] and self.include_in_schema:
                self._refuse_unknown(request.query_params.keys())
            values = request.scope["path_params"]
            request.scope["path_params"] = {
                name: value.replace(_SLASH, "/") if isinstance(value, str) else value for name, value in values.items()
            }
            return await inner(request)

        return answer

    def _refuse_unknown(self, query_names: Iterable[str]) -> None:
        names = self._known_arguments
        for name in query_names:
            if name not in names:
                listed = ", ".join(sorted(names)) or "none"
                raise InvalidInputError(f"the query argument {name!r} is not known here; known are: {listed}")


class PassedOn(Operation):
    """A route whose query is for another service, which knows what it may hold."""

    def _refuse_unknown(self, _: Iterable[str]) -> None:
        """Refuse nothing."""


def operations(tag: str, *, prefix: str = "", route_class: type[Operation] = Operation) -> APIRouter:
    """Return a router whose operations stand under a tag, with the problems that every route may answer with."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=route_class, responses=documented())


def _query_parameters(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)


def _names_of(parameter: Any) -> Iterable[str]:
    """Return the name of a parameter, or those of the fields of a model that stands for the whole query."""
    annotation = parameter.field_info.annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_fields
    return (parameter.alias,)
