"""/openapi.json can be read by programs and by people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from ebbing.interfaces.http.app import create_app
from ebbing.interfaces.http.chat_proxy.paths import PROXY_PATHS
from ebbing.interfaces.http.mem0.paths import is_mem0_path
from ebbing.interfaces.http.middleware.admission import PUBLIC
from ebbing.interfaces.http.schema.openapi import operations_of
from ebbing.interfaces.http.schema.operations import Operation
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings

Json = dict[str, Any]


@pytest.fixture(scope="module")
def app() -> Any:
    return create_app(AsyncMemory(components=build(load_settings({"embedder": "none", "store": "ephemeral"}))))


@pytest.fixture(scope="module")
def document(app: Any) -> Json:
    made: Json = app.openapi()
    return made


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_the_document_is_valid_openapi(document: Json) -> None:
    validate(document)


def test_every_reference_leads_to_something(document: Json) -> None:
    found = set(references(document))
    assert len(found) > 20
    for reference in found:
        part: Any = document
        for name in reference.removeprefix("#/").split("/"):
            assert name in part, reference
            part = part[name]


def test_the_document_says_where_and_with_which_credential(document: Json) -> None:
    assert document["servers"]
    schemes = document["components"]["securitySchemes"]
    assert {name for each in document["security"] for name in each} == set(schemes)
    for path, operation in operations_of(document):
        assert (operation.get("security") == []) == (path in PUBLIC), path


def test_operation_ids_are_unique_readable_words(document: Json) -> None:
    ids = Counter(operation["operationId"] for _, operation in operations_of(document))
    assert max(ids.values()) == 1, ids.most_common(3)
    for name in ids:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+){0,4}", name), name
        assert not re.search(r"_(get|post|put|delete|patch)$", name), name


def test_every_operation_has_a_known_tag_and_a_summary(document: Json) -> None:
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}
    for path, operation in operations_of(document):
        assert set(operation["tags"]) <= tags, path
        assert len(operation["tags"]) == 1, path
        summary = operation["summary"]
        assert 8 <= len(summary) <= 100, (path, summary)
        assert summary[0].isupper(), (path, summary)
        assert not summary.endswith("."), (path, summary)
        assert operation["description"].replace("\n", " ").startswith(summary[:20]), (path, summary)


def test_every_parameter_and_body_field_has_a_name_in_words(document: Json) -> None:
    for path, operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            assert re.fullmatch(r"[a-zA-Z_-]+", parameter["name"]), (path, parameter)


def test_every_route_is_an_operation(app: Any) -> None:
    assert "/v1/memories" in app.openapi()["paths"]
    for included in app.routes:
        for route in getattr(getattr(included, "original_router", None), "routes", [included]):
            if getattr(route, "include_in_schema", False):
                assert isinstance(route, Operation), route.path


def test_mem0_paths_are_those_of_its_routes_and_no_others(document: Json) -> None:
    for path, operation in operations_of(document):
        [tag] = operation["tags"]
        assert is_mem0_path(path) == tag.startswith("mem0"), path
        is_plain = is_mem0_path(path) or path in PROXY_PATHS
        media_types = {"application/json"} if is_plain else {"application/problem+json"}
        for response in operation["responses"].values():
            if "$ref" in response:
                shared = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
                assert set(shared["content"]) == media_types, path
