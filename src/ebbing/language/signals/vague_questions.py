"""Questions that name no topic: what they are about was said before them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ebbing.language.text.analyzer import normalise

_MAX_LENGTH: Final = 120
"""Characters; a longer text is taken to say something."""
_SHORT: Final = 8
"""Chinese characters, or half as many English words with a topic, up to which a question is short."""
_WORD_LENGTH: Final = 4
_RUN: Final = re.compile(
    r"(?P<han>[\u3400-\u4dbf\u4e00-\u9fff]+)|(?P<word>[^\W\u3400-\u4dbf\u4e00-\u9fff]+(?:'[^\W\d_]+)*)"
)


def is_weak(question: str) -> bool:
    """Whether a question cannot be searched for by itself: nothing but pronouns, question words and fillers.

    Whatever else it holds (a name, a number, a topic of one character) makes it a question of its own. Chinese and
    English are known; a word of another language counts as a topic. `packs/weak.toml` holds the words.
    """
    if len(question) > _MAX_LENGTH:
        return False
    words = _words()
    for run in _RUN.finditer(normalise(question).translate(words.simplified)):
        han = run["han"]
        if not (_is_made_of(han, words) if han else run["word"].replace("'", "") in words.en):
            return False
    return True


def leans(question: str) -> bool:
    """Whether what a question is about may have been said before it: it is weak, short, or holds a pronoun."""
    normal = normalise(question).translate(_words().simplified)
    if is_weak(question) or any(map(normal.__contains__, _words().pronouns_zh)):
        return True
    runs = list(_RUN.finditer(normal))
    words = [run["word"] for run in runs if run["word"]]
    telling = [word for word in words if word.replace("'", "") not in _words().en]
    length = sum(len(run["han"] or "") for run in runs) + _WORD_LENGTH * len(telling)
    return length <= _SHORT or not _words().pronouns_en.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class _Words:
    zh: frozenset[str]
    longest_zh: int
    en: frozenset[str]
    simplified: dict[int, int]
    pronouns_zh: tuple[str, ...]
    pronouns_en: frozenset[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    data = tomllib.loads((files("ebbing.language") / "packs" / "weak.toml").read_text("utf-8"))
    zh = frozenset(data["zh"]["words"].split())
    pairs = data["zh"]["traditional"]
    return _Words(
        zh,
        longest_zh=max(map(len, zh)),
        en=frozenset(data["en"]["words"].split()),
        simplified=str.maketrans(pairs[::2], pairs[1::2]),
        pronouns_zh=tuple(data["zh"]["pronouns"].split()),
        pronouns_en=frozenset(data["en"]["pronouns"].split()),
    )


def _is_made_of(run: str, words: _Words) -> bool:
    """Whether a run of characters can be cut into known words, in any way."""
    reached = [True] + [False] * len(run)
    for end in range(1, len(run) + 1):
        starts = range(max(0, end - words.longest_zh), end)
        reached[end] = any(reached[start] and run[start:end] in words.zh for start in starts)
    return reached[-1]
