"""OpenAI's own clients, as the registries have them, get through the proxy what they get without it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from tests.interfaces.http.scripted_endpoint import Call, Endpoint, scripted_endpoint
from tests.registry_clients import node_with, python_with, service, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent
OF_CONNECTION = {"host", "connection", "accept-encoding"}
PARTS = {"models", "whole", "stream", "tools", "refusal", "broken", "left"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted_endpoint() as running:
        yield running


@pytest.fixture
def address(endpoint: Endpoint, tmp_path: Path) -> Iterator[str]:
    with service(tmp_path / "store", EBBING_PROXY_URL=endpoint.url, EBBING_USER="emma") as where:
        yield where


def remembered(address: str) -> list[str]:
    """What the service knows of emma, as soon as it knows the last of it."""
    until = monotonic() + 20
    while True:
        page = httpx.get(f"{address}/v1/memories", params={"user_id": "emma"}).json()
        texts = sorted(item["text"] for item in page["memories"])
        if len(texts) >= 2 or monotonic() > until:
            return texts
        sleep(0.05)


def forwarded(call: Call) -> dict[str, str]:
    """The headers of a call that are not about its connection."""
    return {name: value for name, value in call.headers.items() if name not in OF_CONNECTION}


def lived(endpoint: Endpoint, address: str, *, command: Sequence[str | Path], folder: Path) -> None:
    """Let a client get the same from the endpoint itself and through the proxy, and compare."""
    direct = json.loads(succeed([*command, endpoint.url], folder=folder))
    asked = len(endpoint.calls)
    assert endpoint.abandoned.wait(5)
    endpoint.abandoned.clear()
    through = json.loads(succeed([*command, f"{address}/v1"], folder=folder))
    assert direct.keys() >= PARTS
    assert through == direct
    assert endpoint.abandoned.wait(5)
    first, second = endpoint.calls[1], endpoint.calls[asked + 1]
    assert second.body == first.body  # nothing is known yet
    assert forwarded(second) == forwarded(first)
    assert any(b"recalled-memory" in call.body for call in endpoint.calls[asked:])
    assert remembered(address) == ["User is allergic to peanuts", "User lives in Leeds"]


def test_the_python_client_gets_what_it_gets_without_the_proxy(
    endpoint: Endpoint, address: str, tmp_path: Path
) -> None:
    python = python_with("openai-python", "openai>=3,<4")
    lived(endpoint, address, command=[python, HERE / "openai_life.py"], folder=tmp_path)


def test_the_node_client_gets_what_it_gets_without_the_proxy(endpoint: Endpoint, address: str) -> None:
    folder = node_with("openai-npm", "openai@7")
    shutil.copy(HERE / "openai_life.mjs", folder)
    lived(endpoint, address, command=["node", "openai_life.mjs"], folder=folder)
