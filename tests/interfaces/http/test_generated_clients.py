"""Clients that generators make of /openapi.json work against the running service."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.registry_clients import node_with, python_with, service, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent
KEY = "a-key-of-at-least-32-characters-000"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with service(tmp_path_factory.mktemp("store"), EBBING_SERVICE_API_KEY=KEY) as where:
        yield where


@pytest.fixture
def document(address: str, tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    with urlopen(f"{address}/openapi.json", timeout=30) as answer:
        path.write_bytes(answer.read())
    return path


def test_a_generated_python_client_adds_searches_and_deletes(address: str, document: Path, tmp_path: Path) -> None:
    python = python_with("openapi-python", "openapi-python-client==0.29.1")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"post_hooks": []}))
    options = ["--path", document, "--output-path", "ebbing_client", "--meta", "none", "--config", config]
    succeed([python.with_name("openapi-python-client"), "generate", *options], folder=tmp_path)
    shutil.copy(HERE / "generated_life.py", tmp_path)
    assert "lived" in succeed([python, "generated_life.py", address, KEY], folder=tmp_path)


def test_a_generated_typescript_client_adds_searches_and_deletes(address: str, document: Path) -> None:
    packages = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9", "@types/node@22")
    folder = node_with("openapi-typescript", *packages)
    programs = folder / "node_modules" / ".bin"
    succeed([programs / "openapi-typescript", document, "-o", "api.ts", "--default-non-nullable=false"], folder=folder)
    shutil.copy(HERE / "generated_life.ts", folder / "life.ts")
    (folder / "package.json").write_text(
        json.dumps({**json.loads((folder / "package.json").read_text()), "type": "module"})
    )
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", "node"]
    succeed([programs / "tsc", *options, "life.ts"], folder=folder)
    assert "lived" in succeed(["node", "life.js", address, KEY], folder=folder)
