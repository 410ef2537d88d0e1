"""mem0's own clients, as the registries have them, against a running service: nothing is changed but the host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.registry_clients import node_with, python_with, service, succeed

pytestmark = pytest.mark.extended

HERE = Path(__file__).parent


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[str]:
    """Where a service answers that knows nobody yet."""
    with service(tmp_path / "store") as where:
        yield where


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with service(tmp_path_factory.mktemp("store")) as where:
        yield where


def test_every_public_method_of_the_python_client_has_an_answer(empty: str, tmp_path: Path) -> None:
    python = python_with("mem0-python", "mem0ai>=2,<3")
    told = succeed(
        [python, HERE / "mem0_every_method.py", empty], folder=tmp_path, settings={"MEM0_DIR": str(tmp_path)}
    )
    assert told.splitlines()[-1] == "lived"


def test_the_python_client_lives_its_life(address: str, tmp_path: Path) -> None:
    python = python_with("mem0-python", "mem0ai>=2,<3")
    told = succeed([python, HERE / "mem0_life.py", address], folder=tmp_path, settings={"MEM0_DIR": str(tmp_path)})
    assert told.splitlines()[-1] == "lived"


def test_the_javascript_client_lives_its_life(address: str, tmp_path: Path) -> None:
    folder = node_with("mem0-npm", "mem0ai@3")
    shutil.copy(HERE / "mem0_life.mjs", folder)
    told = succeed(["node", "mem0_life.mjs", address], folder=folder, settings={"MEM0_DIR": str(tmp_path)})
    assert told.splitlines()[-1] == "lived"
