"""Build `extensions/dify/tools.json`: five operations out of the service's own OpenAPI document, for Dify and its like.

`python scripts/build_dify_tools.py` writes the file anew. A test says when it is no longer what the service offers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings

FILE = Path(__file__).parents[1] / "extensions" / "dify" / "tools.json"
SERVICE = "http://127.0.0.1:8830"
OPERATIONS = {
    ("/v1/context", "post"): ("user_id", "query", "max_tokens"),
    ("/v1/memories", "post"): ("user_id", "run_id", "text"),
    ("/v1/memories/search", "post"): ("user_id", "query", "top_k"),
    ("/v1/memories/forget", "post"): ("user_id", "about", "confirm"),
    ("/v1/memories/{memory_id}", "delete"): (),
}
"""The operations with the arguments that a workflow fills in. A host such as Dify knows no lists of objects."""

Json = dict[str, Any]


def document() -> Json:
    """Return the OpenAPI document of the five operations."""
    components = build(load_settings({"embedder": "none", "store": "ephemeral"}))
    whole = create_app(AsyncMemory(components=components)).openapi()
    paths: Json = {}
    for (path, method), names in OPERATIONS.items():
        paths.setdefault(path, {})[method] = _operation(whole, whole["paths"][path][method], names=names)
    info = {**whole["info"], "title": "Ebbing memory"}
    scheme = whole["components"]["securitySchemes"]["bearer"]
    return {
        "openapi": whole["openapi"],
        "info": info,
        "servers": [{"url": SERVICE, "description": "Where the service answers; write your address here."}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": scheme}},
    }


def _operation(whole: Json, operation: Json, *, names: tuple[str, ...]) -> Json:
    """Return an operation with plain arguments, and an answer without references."""
    made: Json = {name: operation[name] for name in ("operationId", "summary", "description")}
    path_arguments = [each for each in operation.get("parameters", []) if each.get("in") == "path"]
    if path_arguments:
        made["parameters"] = path_arguments
    if names:
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        fields = whole["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
        properties = {name: dict(_plain(fields[name])) for name in names}
        required = [name for name in names if name in {"user_id", "query", "text"}]
        schema = {"type": "object", "properties": properties, "required": required}
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    made["responses"] = {"200": {"description": "The answer of the service, as JSON."}}
    return made


def _plain(field: Json) -> Iterator[tuple[str, Any]]:
    """Yield a field as a plain type with its description: many hosts understand no choice of types."""
    choices = field.get("anyOf", [field])
    types = [choice["type"] for choice in choices if choice.get("type") not in (None, "null")]
    yield "type", types[0] if types else "string"
    for name in ("title", "description", "default"):
        if field.get(name) is not None:
            yield name, field[name]


def text() -> str:
    """Return the file as it is to be."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), "utf-8")
    print(f"{FILE} has {len(OPERATIONS)} operations")
