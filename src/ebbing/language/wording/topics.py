"""What some texts are about, in a few words: terms and names, without a model and without a dictionary of topics."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Final

from ebbing.language.text.analyzer import normalise

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN: Final = re.compile(
    rf"[《「『“\"](?P<title>[^》」』”\"\n]{{2,20}})[》」』”\"]|(?P<han>[{_HAN}]+)|(?P<latin>[A-Za-z][A-Za-z'’ -]*)"
)
_MAX_READ: Final = 1_000
"""Characters of each text that are read."""
_LONGEST_HAN: Final = 8
_LONGEST_PHRASE: Final = 3
"""Words of an English candidate."""
_NAME: Final = 0.75
"""What a title or a name in capitals is worth beside being in one more text."""
_SEVERAL: Final = 0.25
"""… and a term of more than one English word or two Chinese characters."""


def topics(texts: Sequence[str], *, count: int = 5) -> list[str]:
    """The `count` most telling terms of the texts (the newest first), best first, each as it was written.

    A candidate is what stands between words without a topic (`packs/topics.toml`). It counts once for each text that
    holds it, a little more as a name or as more than one word; of equal ones the newer wins. None contains another.
    """
    shown, weight = _weighed([text[:_MAX_READ] for text in texts])
    chosen: list[str] = []
    for key in sorted(weight, key=lambda key: -weight[key]):
        if len(chosen) < count and not _overlaps(key, chosen):
            chosen.append(key)
    return [shown[key] for key in chosen]


def _weighed(texts: Sequence[str]) -> tuple[dict[str, str], dict[str, float]]:
    """Each candidate as it was written and what it weighs, by its folded form, in the order of the texts."""
    shown: dict[str, str] = {}
    weight: dict[str, float] = {}
    for candidate, bonus in chain.from_iterable(map(_candidates, texts)):
        key = normalise(candidate)
        shown.setdefault(key, candidate)
        weight[key] = max(weight.get(key, 0.0), bonus)
    folded = [normalise(text) for text in texts]
    for key in weight:
        weight[key] += sum(key in text for text in folded)
    return shown, weight


def _overlaps(key: str, chosen: Sequence[str]) -> bool:
    return any(key in other or other in key for other in chosen)


def _candidates(text: str) -> Iterator[tuple[str, float]]:
    for run in _RUN.finditer(text):
        if run["title"]:
            yield run["title"].strip(), _NAME
        elif run["han"]:
            for piece in _cuts().han.split(run["han"]):
                if 2 <= len(piece) <= _LONGEST_HAN:
                    yield piece, _SEVERAL * (len(piece) > 2)
        else:
            yield from _phrases(run["latin"], opens=run.start() == 0)


def _phrases(run: str, *, opens: bool) -> Iterator[tuple[str, float]]:
    """Stretches of words that carry a topic; `opens`: the first word has its capital from the sentence."""
    words: list[str] = []
    named = False
    for place, word in enumerate([*run.replace("-", " - ").split(), ""]):
        if word and len(words) < _LONGEST_PHRASE and _is_telling(word):
            words.append(word)
            named = named or (word[0].isupper() and not (opens and place == 0))
            continue
        if words:
            yield " ".join(words), _NAME * named + _SEVERAL * (len(words) > 1)
        words, named = ([word], word[0].isupper()) if word and _is_telling(word) else ([], False)


def _is_telling(word: str) -> bool:
    bare = normalise(word).removesuffix("'s")
    return len(bare) > 1 and bare not in _cuts().latin


@dataclass(frozen=True, slots=True)
class _Cuts:
    han: re.Pattern[str]
    latin: frozenset[str]


@lru_cache(maxsize=1)
def _cuts() -> _Cuts:
    packs = [_read(name) for name in ("topics", "weak", "analyser")]
    words = {word for pack in packs for key in ("cut", "words") for word in pack["zh"].get(key, "").split()}
    zh = {word for word in words if len(word) > 1} | set(packs[0]["zh"]["single"])
    en = {word for pack in packs for key in ("cut", "words", "stop") for word in pack["en"].get(key, "").split()}
    longest_first = sorted(zh, key=lambda word: (-len(word), word))
    return _Cuts(re.compile("|".join(map(re.escape, longest_first))), frozenset(en))


def _read(name: str) -> dict[str, dict[str, str]]:
    data: dict[str, dict[str, str]] = tomllib.loads(
        (files("ebbing.language") / "packs" / f"{name}.toml").read_text("utf-8")
    )
    return data
