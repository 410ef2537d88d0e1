"""`/v1/chat/completions` and `/v1/models`: what OpenAI's clients call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from ebbing.interfaces.http.chat_proxy.chat_caller import MEMORY, PREVIEW, ChatCaller, chat_caller, memory_use
from ebbing.interfaces.http.chat_proxy.chat_request import parse_chat_request
from ebbing.interfaces.http.chat_proxy.paths import CHAT, MODELS, REFUSED_PATHS
from ebbing.interfaces.http.chat_proxy.proxy import ChatProxy
from ebbing.interfaces.http.chat_proxy.relay import Outgoing
from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.request_context import Reader
from ebbing.interfaces.http.schema.operations import PassedOn, operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse

router = operations("chats", route_class=PassedOn)

_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "model": {"type": "string"},
                        "messages": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
                    },
                    "additionalProperties": True,
                    "description": "As the endpoint takes it.",
                }
            }
        },
    }
}


@router.post(CHAT, response_model=ObjectResponse, responses=documented(502), openapi_extra=_BODY)
async def create_chat_completion(caller: Reader, request: Request) -> Response:
    """Pass a chat on to the model, with what is remembered of the person. The answer comes back unchanged."""
    proxy: ChatProxy = request.app.state.chat_proxy
    proxy.endpoint  # noqa: B018 - says at once that the proxy is off
    try:
        body = await request.body()
    except ClientDisconnect:  # nobody is there any more who could read an answer
        raise ProblemError("invalid_input", "the body broke off") from None
    headers = dict(request.scope["headers"])
    outgoing = Outgoing("POST", _with_query("/chat/completions", request), request.scope["headers"], body)
    chat_request = parse_chat_request(body)
    is_preview = headers.get(PREVIEW, b"").strip().lower() in {b"1", b"true", b"yes"}
    if chat_request is None or memory_use(headers) == "off":
        if is_preview:
            return Response(body, headers={MEMORY.decode(): "off"}, media_type="application/json")
        return proxy.relay(caller, outgoing, added=[(MEMORY, b"off")])
    chat: ChatCaller = chat_caller(
        caller, headers, fields=chat_request.fields, user=caller.memory.components.settings.user
    )
    prepared = await proxy.prepare(caller, chat, request=chat_request)
    if is_preview:
        shown = [(name.decode(), value.decode()) for name, value in prepared.headers]
        return Response(prepared.body, headers=dict(shown), media_type="application/json")
    return proxy.relay(
        caller,
        replace(outgoing, body=prepared.body),
        added=prepared.headers,
        ended=proxy.remember_after(caller, chat, request=chat_request, prepared=prepared),
    )


@router.get(MODELS, response_model=ObjectResponse, responses=documented(502))
async def list_models(caller: Reader, request: Request) -> Response:
    """List the models of the endpoint that chats are passed on to."""
    proxy: ChatProxy = request.app.state.chat_proxy
    return proxy.relay(caller, Outgoing("GET", _with_query("/models", request), request.scope["headers"]))


async def refuse(caller: Reader) -> Response:  # noqa: ARG001 - whoever asks needs a credential, as for a chat
    """Say what is passed on, to a host that asks for something else."""
    raise ProblemError("not_proxied", f"this service passes on {CHAT} and {MODELS}, and nothing else")


for _path in REFUSED_PATHS:
    for _route in (_path, f"{_path}/{{rest:path}}"):
        router.add_api_route(_route, refuse, methods=["GET", "POST", "DELETE"], include_in_schema=False)


def _with_query(path: str, request: Request) -> str:
    """Return the path with what the client asked behind it, such as Azure's `api-version`."""
    query: str = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path
