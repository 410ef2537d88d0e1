"""Every reranker against the one contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.rerankers.late_interaction import LateReranker
from ebbing.adapters.rerankers.rerank_endpoint import EndpointReranker
from ebbing.ports.models.reranker import Reranker
from ebbing.testing.models.reranker import FakeReranker
from ebbing.testing.reranker_suite import RerankerSuite
from tests.rerank_server import RerankServer


class TestFakeReranker(RerankerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def reranker(cls) -> Reranker:
        return FakeReranker()


class TestLateReranker(RerankerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def reranker(cls) -> Reranker:
        return LateReranker(E5Embedder.load())


class TestEndpointReranker(RerankerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def reranker(cls) -> Iterator[Reranker]:
        with RerankServer() as server:
            yield EndpointReranker(server.url, "sk-test", model="fake")
