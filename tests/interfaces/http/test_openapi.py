"""The OpenAPI document tells the truth: made-up requests of every kind meet no 5xx and nothing undocumented."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.extended

EACH = 12
"""Requests to each operation, beside those that cover its parameters one by one."""
KEY = "key-of-the-service-that-no-request-can-revoke"
"""Without one, the first key that a request makes would shut all the others out."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@asynccontextmanager
async def for_good(_: object) -> AsyncIterator[None]:
    """Each request would start and stop the service, which closes its memory."""
    yield


def endless_app() -> Any:
    settings = {"embedder": "none", "store": "ephemeral", "worker": False, "service_api_key": KEY}
    memory = AsyncMemory(components=build(load_settings(settings)))
    app = create_app(memory)
    app.router.lifespan_context = for_good
    app.state.ready = {"ready": True}
    return app


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> Any:
    """A body of lines, for `requests`."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


app = endless_app()
schema = schemathesis.openapi.from_asgi("/openapi.json", app)
sent: Counter[str] = Counter()
refused: Counter[str] = Counter()


def check_of(method: str, path: str) -> Callable[[Any], None]:
    @schema.include(method=method.upper(), path=path).parametrize()
    @settings(
        max_examples=EACH,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def test_the_operation_answers_as_it_is_documented(case: Any) -> None:
        sent[case.operation.label] += 1
        answer = case.call_and_validate(checks=CHECKS, headers={"host": "localhost", "x-api-key": KEY})
        refused[case.operation.label] += answer.status_code == 401

    return test_the_operation_answers_as_it_is_documented


# A test function for each operation: ids of one function for all would be the same, and run once with several workers.
for path, operations in app.openapi()["paths"].items():
    for method in operations:
        name = re.sub(r"\W", "_", f"{method}{path}")
        globals()[f"test_{name}_answers_as_it_is_documented"] = check_of(method, path)


def test_enough_requests_were_made() -> None:
    if len(sent) > 1:  # the whole file was run
        assert sum(sent.values()) >= 2_000, sent
        assert sum(refused.values()) <= sum(sent.values()) / 10, refused
