"""Late interaction over token vectors, on a toy model whose tokens are words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.rerankers import late_interaction
from ebbing.adapters.rerankers.late_interaction import READ_AT_ONCE, LateReranker
from ebbing.domain.errors import EmbeddingError, RerankError
from ebbing.ports.models.embedder import Vectors

pytestmark = pytest.mark.anyio

Role = Literal["query", "passage"]


class WordModel:
    """Every word is a token with a random vector of its own."""

    model_id = "words"

    def __init__(self, dim: int = 64) -> None:
        self.dim = dim
        self.read: list[str] = []
        """The passages that it was given."""
        self.failing = False

    async def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        if self.failing:
            raise EmbeddingError("the model is gone")
        if role == "passage":
            self.read += texts
        return [
            np.array([self._vector(word) for word in text.split()], np.float32).reshape(-1, self.dim) for text in texts
        ]

    def token_pieces(self, text: str, role: Role) -> list[tuple[int, str]]:
        return [(self._seed(word) % 2**31, f"▁{word}") for word in text.split()]

    def _vector(self, word: str) -> Vectors:
        vector = np.random.default_rng(self._seed(word)).normal(size=self.dim).astype(np.float32)
        return vector / np.linalg.norm(vector)

    @staticmethod
    def _seed(word: str) -> int:
        return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")


@pytest.fixture
def model() -> WordModel:
    return WordModel()


async def test_a_candidate_scores_by_the_words_that_it_holds(model: WordModel) -> None:
    scores = await LateReranker(model).rerank("green tea", ["black coffee", "green tea", "green paint"])
    assert scores[0] == 0
    assert scores[1] == pytest.approx(1 - late_interaction.FLOOR, abs=0.02)
    assert 0 < scores[2] < scores[1]


async def test_a_word_that_few_candidates_hold_weighs_more(model: WordModel) -> None:
    common, rare = "tea", "oolong"
    scores = await LateReranker(model).rerank(f"{common} {rare}", [f"{common} x{n}" for n in range(9)] + [f"{rare} y"])
    assert scores[-1] > 2 * scores[0]


async def test_stop_words_and_punctuation_do_not_count(model: WordModel) -> None:
    scores = await LateReranker(model).rerank("what is the tea ?", ["what is the ?", "tea", "water", "milk", "wine"])
    assert scores[0] == 0
    assert scores[1] > 0.5


async def test_a_question_of_nothing_but_stop_words_is_compared_all_the_same(model: WordModel) -> None:
    scores = await LateReranker(model).rerank("the of", ["the of", "and"])
    assert scores[0] > scores[1]


async def test_four_bits_a_number_keep_the_cosines() -> None:
    model = WordModel(384)
    texts = [f"w{number} w{number + 1} w{number + 2}" for number in range(40)]
    [question] = await model.token_vectors(["w1 w7 w20"], "query")
    exact = question @ np.concatenate(await model.token_vectors(texts, "passage")).T
    packed = late_interaction._cosines(question, await LateReranker(model).read(texts))
    np.testing.assert_allclose(packed, exact, atol=0.03)


async def test_a_text_is_read_once(model: WordModel) -> None:
    reranker = LateReranker(model)
    await reranker.rerank("tea", ["green tea", "coffee", "green tea"])
    await reranker.rerank("coffee", ["coffee", "green tea", "milk"])
    assert model.read == ["green tea", "coffee", "milk"]
    await reranker.aclose()
    await reranker.rerank("tea", ["coffee"])
    assert model.read[-1] == "coffee"


async def test_what_was_read_is_bounded(model: WordModel) -> None:
    reranker = LateReranker(model, max_bytes=2_000)
    texts = [f"note {number}" for number in range(9)]
    first = await reranker.rerank("note 3", texts)
    assert reranker._texts._free >= 0
    assert await reranker.rerank("note 3", texts) == first
    assert len(model.read) > len(texts)


async def test_texts_are_read_a_few_at_a_time_so_that_giving_up_loses_little(model: WordModel) -> None:
    reranker = LateReranker(model)
    sizes: list[int] = []
    token_vectors = model.token_vectors

    async def counted(texts: Sequence[str], role: Role) -> list[Vectors]:
        sizes.append(len(texts))
        return await token_vectors(texts, role)

    model.token_vectors = counted  # type: ignore[method-assign]
    await reranker.read([f"note {number}" for number in range(10)])
    assert sizes == [READ_AT_ONCE, READ_AT_ONCE, 10 - 2 * READ_AT_ONCE]


async def test_blank_texts_have_no_score(model: WordModel) -> None:
    reranker = LateReranker(model)
    assert await reranker.rerank("tea", ["", "tea"]) == [0.0, pytest.approx(0.65, abs=0.02)]
    assert await reranker.rerank("tea", ["", " "]) == [0.0, 0.0]
    assert await reranker.rerank("", ["tea"]) == [0.0]


async def test_a_failing_model_is_a_failing_reranker(model: WordModel) -> None:
    model.failing = True
    with pytest.raises(RerankError, match="the model is gone"):
        await LateReranker(model).rerank("tea", ["tea"])


async def test_the_tokens_of_a_question_come_from_the_run_that_embeds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = E5Embedder.load()
    [before] = await model.token_vectors(["哪里有好茶？"], "query")
    runs: list[list[str]] = []
    run = model._run
    monkeypatch.setattr(model, "_run", lambda outputs, batch: runs.append(outputs) or run(outputs, batch))
    alone = E5Embedder.embed(model, ["哪里有好茶？"], "query")
    [after] = await model.token_vectors(["哪里有好茶？"], "query")
    assert runs == [["mean", "tokens"]]
    np.testing.assert_allclose(after, before, atol=1e-5)
    np.testing.assert_allclose(alone, (await model.embed_queries(["哪里有好茶？", "x"]))[:1], atol=1e-5)
    pieces = model.token_pieces("哪里有好茶？", "query")
    assert "".join(piece for _, piece in pieces) == "▁哪里有好茶?"
    assert len(pieces) == len(after)
