"""Every embedder against the one contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
from ebbing.adapters.embedders.openai_embeddings import OpenAIEmbedder
from ebbing.adapters.embedders.sentence_encoder import SentenceEncoderEmbedder
from ebbing.ports.models.embedder import Embedder
from ebbing.testing.embedder_suite import EmbedderSuite
from ebbing.testing.models.embedder import FakeEmbedder
from tests.embeddings_endpoint import EmbeddingsEndpoint


class TestFakeEmbedder(EmbedderSuite):
    knows_paraphrases = False
    crosses_languages = False

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        return FakeEmbedder()


class TestCachingEmbedder(EmbedderSuite):
    knows_paraphrases = False
    crosses_languages = False

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        return CachingEmbedder(FakeEmbedder(), max_bytes=2_000)


class TestOpenAIEmbedder(EmbedderSuite):
    knows_paraphrases = False
    crosses_languages = False
    serves_many_loops = False

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Iterator[Embedder]:
        with EmbeddingsEndpoint(dim=64) as endpoint:
            yield OpenAIEmbedder(endpoint.url, "sk-test", model="fake-64", dim=64)


@pytest.mark.extended
class TestE5Embedder(EmbedderSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        return E5Embedder.load()


class TestSentenceEncoderEmbedder(EmbedderSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        return SentenceEncoderEmbedder.load()
