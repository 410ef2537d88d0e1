"""The contract of `Embedder` as tests: subclass, give the embedder, and run it with pytest and anyio's plugin.

class TestMyEmbedder(EmbedderSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        return MyEmbedder()
"""

from __future__ import annotations

from typing import ClassVar

import anyio
import anyio.to_thread
import numpy as np
import pytest

from ebbing.ports.models.embedder import Embedder, Vectors

TOLERANCE = 1e-5
"""Between two computations of one vector: what the order of additions may change."""

TEXTS = (
    "Lin is allergic to peanuts.",
    "林悦对花生过敏。",
    "We moved to a flat near the harbour, and the cat still hides under the bed whenever a ship sounds its horn.",
    "今天天气很好，我们去公园散步，看到了一只松鼠。",
    "ok",
    "我在用 Python 写一个命令行工具",
    "7",
)
HOSTILE = {
    "a ligature that normalisation makes eighteen times longer": "\ufdfa" * 5000,
    "a NUL in the middle": "before\0after",
    "lone surrogates": "a\ud800b\udfff",
    "emoji with joiners": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽",
    "right to left with marks": "\u202eمرحبا بالعالم\u202c שלום",
    "combining marks without end": "e" + "\u0301" * 3000,
    "text that spells control tokens": "<s> </s> <pad> <mask> <unk> [CLS]",
    "one word without a space": "x" * 20_000,
    "private use and unassigned": "\ue000\uffff\U0010ffff\u0378",
    "control characters alone": "\x01\x02\x03",
}
BLANK = ("", " ", "\n\t \u3000", "\u200b\ufeff")


class EmbedderSuite:
    """Every embedder passes these. The class attributes say what a kind of model cannot promise."""

    knows_paraphrases: ClassVar[bool] = True
    """False for a model that sees letters, not meaning."""
    crosses_languages: ClassVar[bool] = True
    """False for a model that puts a Chinese sentence and its English translation apart."""
    serves_many_loops: ClassVar[bool] = True
    """False if what one event loop opened has to be closed in it (connections)."""
    seconds_for_a_megabyte: ClassVar[float] = 20.0
    """Generous, as machines are shared; what matters is that the work is bounded."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Embedder:
        """The embedder under test, one for the class."""
        raise NotImplementedError("a subclass gives the embedder")

    @pytest.mark.anyio
    async def test_every_vector_has_length_one_and_the_promised_dimension(self, embedder: Embedder) -> None:
        for vectors in (await embedder.embed_queries(TEXTS), await embedder.embed_passages(TEXTS)):
            assert vectors.shape == (len(TEXTS), embedder.dim)
            assert vectors.dtype == np.float32
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)

    @pytest.mark.anyio
    async def test_the_same_text_gets_the_same_vector_again(self, embedder: Embedder) -> None:
        first = await embedder.embed_passages(TEXTS)
        np.testing.assert_array_equal(first, await embedder.embed_passages(TEXTS))

    @pytest.mark.anyio
    async def test_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        together = await embedder.embed_passages(TEXTS)
        alone = [await embedder.embed_passages([text]) for text in TEXTS]
        np.testing.assert_allclose(together, np.concatenate(alone), atol=TOLERANCE)
        turned = await embedder.embed_passages([*reversed(TEXTS), "a text more"])
        np.testing.assert_allclose(together, turned[len(TEXTS) - 1 :: -1], atol=TOLERANCE)

    @pytest.mark.anyio
    async def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert (await embedder.embed_queries([])).shape == (0, embedder.dim)
        assert (await embedder.embed_passages([])).shape == (0, embedder.dim)

    @pytest.mark.anyio
    async def test_blank_text_gets_zeros_and_leaves_its_neighbours_alone(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages([*BLANK, TEXTS[0]])
        assert not vectors[: len(BLANK)].any()
        np.testing.assert_allclose(vectors[-1:], await embedder.embed_passages(TEXTS[:1]), atol=TOLERANCE)
        assert not (await embedder.embed_queries(BLANK)).any()

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    async def test_hostile_text_gets_a_vector_or_zeros(self, embedder: Embedder, text: str) -> None:
        for vectors in (await embedder.embed_queries([text]), await embedder.embed_passages([text])):
            assert vectors.shape == (1, embedder.dim)
            length = float(np.linalg.norm(vectors))
            assert length == 0.0 or length == pytest.approx(1.0, abs=1e-4)

    @pytest.mark.anyio
    async def test_a_megabyte_of_text_is_embedded_in_bounded_time(self, embedder: Embedder) -> None:
        for text in ("今天天气很好。The quick brown fox. " * 30_000, "长" * 350_000):
            with anyio.fail_after(self.seconds_for_a_megabyte):
                vectors = await embedder.embed_passages([text])
            assert np.linalg.norm(vectors) == pytest.approx(1.0, abs=1e-4)

    @pytest.mark.anyio
    async def test_what_follows_a_nul_still_counts(self, embedder: Embedder) -> None:
        cut, whole = await embedder.embed_passages(["hello", "hello\0 the harbour is frozen"])
        assert float(cut @ whole) < 0.99

    @pytest.mark.anyio
    async def test_tasks_at_the_same_time_get_what_a_lone_caller_gets(self, embedder: Embedder) -> None:
        alone = await embedder.embed_passages(TEXTS)
        answers: dict[int, Vectors] = {}

        async def ask(number: int) -> None:
            answers[number] = await embedder.embed_passages(TEXTS)

        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(ask, number)
        for number in range(6):
            np.testing.assert_allclose(answers[number], alone, atol=TOLERANCE)

    @pytest.mark.anyio
    async def test_event_loops_in_other_threads_get_what_a_lone_caller_gets(self, embedder: Embedder) -> None:
        if not self.serves_many_loops:
            pytest.skip("each event loop has to close what it opened")
        alone = await embedder.embed_passages(TEXTS)
        answers: dict[int, Vectors] = {}

        async def ask_from_another_loop(number: int) -> None:
            answers[number] = await anyio.to_thread.run_sync(anyio.run, embedder.embed_passages, TEXTS)

        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(ask_from_another_loop, number)
        for number in range(4):
            np.testing.assert_allclose(answers[number], alone, atol=TOLERANCE)

    @pytest.mark.anyio
    async def test_a_cancelled_caller_leaves_the_embedder_usable(self, embedder: Embedder) -> None:
        with anyio.move_on_after(0.001):
            await embedder.embed_passages(["a long text " * 300])
        assert np.linalg.norm(await embedder.embed_queries(["still there?"])) == pytest.approx(1.0, abs=1e-4)

    @pytest.mark.anyio
    @pytest.mark.parametrize(
        "texts",
        [
            ("林悦对花生过敏。", "林悦不能吃花生，会过敏。", "会议改到了星期四。"),
            ("Lin is allergic to peanuts.", "Lin has a peanut allergy.", "The meeting was moved to Thursday."),
        ],
        ids=["zh", "en"],
    )
    async def test_a_paraphrase_is_nearer_than_an_unrelated_text(
        self, embedder: Embedder, texts: tuple[str, str, str]
    ) -> None:
        vectors = await embedder.embed_passages(texts)
        near, far = (vectors[1:] @ vectors[0]).tolist()
        assert near > far
        if self.knows_paraphrases:
            similar, different = embedder.calibration.similarity(vectors[1:] @ vectors[0]).tolist()
            assert similar > 0.5 > different

    @pytest.mark.anyio
    async def test_a_translation_is_nearer_than_an_unrelated_text_of_the_same_language(
        self, embedder: Embedder
    ) -> None:
        if not self.crosses_languages:
            pytest.skip("this model knows no translations")
        vectors = await embedder.embed_passages(
            ["林悦对花生过敏。", "Lin is allergic to peanuts.", "会议改到了星期四。"]
        )
        assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]

    @pytest.mark.anyio
    async def test_a_question_finds_its_answer_among_other_facts(self, embedder: Embedder) -> None:
        if not self.knows_paraphrases:
            pytest.skip("this model sees letters, not meaning")
        facts = ["The spare key is under the flower pot.", "Lin is allergic to peanuts.", "Our train leaves at seven."]
        question = (await embedder.embed_queries(["What must we not serve to Lin?"]))[0]
        assert int(np.argmax(await embedder.embed_passages(facts) @ question)) == 1

    def test_the_calibration_rises_and_reaches_one_for_the_same_text(self, embedder: Embedder) -> None:
        anchors = embedder.calibration
        assert -1 <= anchors.unrelated < anchors.related < anchors.paraphrase < anchors.same <= 1
        assert anchors.similarity(np.array([-1, 1], np.float32)).tolist() == [0, 1]

    def test_the_model_id_names_something(self, embedder: Embedder) -> None:
        assert embedder.model_id.strip()
