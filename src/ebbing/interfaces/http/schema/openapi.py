"""The OpenAPI document: what FastAPI derives from the routes, completed so that programs can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from ebbing.interfaces.http.chat_proxy.paths import PROXY_PATHS
from ebbing.interfaces.http.errors import MEDIA_TYPE, ProblemBody, media_type_of

Json = dict[str, Any]

SERVERS: Final = ({"url": "/", "description": "The service that this document came from."},)
SECURITY_SCHEMES: Final[Json] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of `ebbing keys create`, or a token that the service's settings allow.",
    },
    "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in a header."},
    "mem0_token": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The same key as mem0's clients send it: `Token KEY`.",
    },
}
"""A service without any key answers on its own machine alone, and takes any credential or none."""
TAGS: Final = (
    ("memories", "Add, search, list, change and delete memories."),
    ("people", "Profiles, relations between people and things, and names in channels."),
    ("conversations", "Context for a prompt, and conversations that are still going on."),
    ("chats", "A model behind this service, and with a memory; for OpenAI's clients."),
    ("overview", "For people who look into a memory: who is there, how fresh it is, how it fades, what changed."),
    ("moving", "Export and import."),
    ("changes", "What was written and how to take it back, and what waits for a decision."),
    ("administration", "Jobs, keys, webhooks and everything about the whole tenant."),
    ("service", "Health and metrics."),
    ("mem0 platform", "The routes of mem0's hosted platform, for its clients."),
    ("mem0 open source", "The routes of mem0's open-source server."),
)
_METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "head", "options", "trace"})
_SENTENCE_END: Final = re.compile(r"(?<=[a-z0-9`)])\.(?:\s|$)")


def completed(document: Json, *, public: frozenset[str]) -> Json:
    """Add servers, credentials, tags, summaries and the form of errors to a document, in place.

    Args:
        public: paths that ask for no credential.
    """
    document["servers"] = [dict(server) for server in SERVERS]
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS]
    document["security"] = [{name: []} for name in SECURITY_SCHEMES]
    components = document.setdefault("components", {})
    components["securitySchemes"] = {name: dict(scheme) for name, scheme in SECURITY_SCHEMES.items()}
    components.setdefault("schemas", {})["ProblemBody"] = ProblemBody.model_json_schema()
    responses = components.setdefault("responses", {})
    for path, operation in operations_of(document):
        if path in public:
            operation["security"] = []
        operation["summary"] = _summary(operation)
        kind = "ChatError" if path in PROXY_PATHS else "Problem" if media_type_of(path) == MEDIA_TYPE else "Mem0Error"
        _share_errors(operation, responses, kind=kind, media_type=media_type_of(path))
    return document


def operations_of(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield each operation of a document with its path."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in _METHODS:
                yield path, operation


def _summary(operation: Json) -> str:
    """Return the first sentence of the description, without its full stop."""
    text = " ".join(str(operation.get("description") or operation["summary"]).split())
    return _SENTENCE_END.split(text, maxsplit=1)[0].rstrip(".")


def _share_errors(operation: Json, shared: Json, *, kind: str, media_type: str) -> None:
    """Replace each error of an operation by a reference to the one that all operations of its kind share."""
    for status, response in operation["responses"].items():
        if MEDIA_TYPE in response.get("content", {}):
            name = kind + HTTPStatus(int(status)).name.title().replace("_", "")
            shared[name] = {**response, "content": {media_type: response["content"][MEDIA_TYPE]}}
            operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
