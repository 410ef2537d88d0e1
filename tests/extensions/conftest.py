"""A live service for the plugins of other hosts: one for a file of tests, each test with people of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.registry_clients import service


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with service(tmp_path_factory.mktemp("store") / "store") as where:
        yield where
