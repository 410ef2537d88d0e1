"""The OpenAPI document that Dify imports as a tool."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from scripts.build_dify_tools import FILE, OPERATIONS, text

Json = dict[str, Any]
ARGUMENTS: Json = {"user_id": "dify-emma", "query": "peanuts?", "text": "I'm allergic to peanuts."}


@pytest.fixture(scope="module")
def tools() -> Json:
    made: Json = json.loads(FILE.read_text("utf-8"))
    return made


def test_the_document_is_what_the_service_offers_today() -> None:
    assert FILE.read_text("utf-8") == text(), "run python scripts/build_dify_tools.py"


def test_the_document_is_valid_with_an_address_a_credential_and_five_operations(tools: Json) -> None:
    validate(tools)
    assert tools["servers"][0]["url"].startswith("http://")
    assert tools["security"]
    assert {(path, method) for path, each in tools["paths"].items() for method in each} == set(OPERATIONS)
    assert "$ref" not in json.dumps(tools)
    assert "anyOf" not in json.dumps(tools)


@pytest.mark.extended
def test_each_operation_does_with_the_arguments_that_the_document_names_what_it_says(tools: Json, address: str) -> None:
    _call(tools, "add_memory", address=address)
    assert "allergic to peanuts" in _call(tools, "search_memories", address=address)["memories"][0]["text"]
    assert "allergic to peanuts" in _call(tools, "get_context", address=address)["context"]
    preview = _call(tools, "forget_topic", address=address, about="peanuts")
    assert "peanuts" in json.dumps(preview)
    _call(tools, "forget_topic", address=address, confirm=preview["confirm"])
    assert "allergic to peanuts" not in _call(tools, "get_context", address=address)["context"]
    added = _call(tools, "add_memory", address=address)
    _call(tools, "delete_memory", address=address, memory_id=added["id"])
    assert "allergic to peanuts" not in _call(tools, "get_context", address=address)["context"]


def _call(tools: Json, name: str, *, address: str, **arguments: str) -> Json:
    """Call an operation with what it requires and these arguments, as a host that read only the document."""
    [(path, method, operation)] = [
        (path, method, operation)
        for path, methods in tools["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] == name
    ]
    body = None
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert set(arguments) <= set(schema["properties"])
        body = {argument: ARGUMENTS[argument] for argument in schema["required"]} | arguments
    response = httpx.request(method, address + path.format(**arguments), json=body)
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer
