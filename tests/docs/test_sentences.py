"""A sentence of the docs has one idea: at most 25 words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]
MOST_WORDS: Final = 25
PAGES: Final = sorted([*(REPOSITORY / "docs").glob("*.md"), *REPOSITORY.glob("*.md")])
_CODE: Final = re.compile(r"```.*?```", re.DOTALL)
_PARAGRAPH: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_SENTENCE: Final = re.compile(r"(?<=[.!?:;])[)*”\"]*\s+(?=[(*“\"]*[A-Z`\[\d\u4e00-\u9fff])")
_ADDRESS: Final = re.compile(r"\]\([^)]*\)")
_WORD: Final = re.compile(r"[A-Za-z0-9'’%_./-]*[A-Za-z0-9%]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page; code, headings, tables and lists of names in code have none."""
    lines = (line for line in _CODE.sub("", text).split("\n") if not line.lstrip().startswith(("|", "#", "    ")))
    for paragraph in _PARAGRAPH.split("\n".join(lines)):
        yield from _SENTENCE.split(" ".join(paragraph.split()))


def words_of(sentence: str) -> int:
    """Return how many words a sentence has; what stands in code is one."""
    plain = re.sub(r"(?:`[^`]*`(?:, | and | or )?)+", "code ", _ADDRESS.sub("]", sentence))
    return len(_WORD.findall(plain))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_a_sentence_has_at_most_25_words(page: Path) -> None:
    long = [each for each in sentences(page.read_text("utf-8")) if words_of(each) > MOST_WORDS]
    assert not long, "\n".join(long)


def test_a_long_sentence_is_seen() -> None:
    assert [words_of(each) > MOST_WORDS for each in sentences(f"Short one. This is {'a very ' * 12}long one.")] == [
        False,
        True,
    ]
    assert words_of("`one`, `two` and `three` are names") == 3
