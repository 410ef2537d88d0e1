"""Messages that put the last statement right and say nothing else: "Sorry, I meant Portugal, not Spain",
and 打错了，是小莹."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from ebbing.language.claims.change_patterns import LANGUAGES, corrections
from ebbing.language.text.detect_language import detect

_LONGEST: Final = 80
"""Characters of a message that is still only a correction."""
_WORDS: Final = 6
_SHORTEST: Final = 3
"""Letters of a word that is taken for misspelt."""
_ALIKE: Final = 0.6
"""Share of their characters that a word and its correction need in common where nothing says which word was wrong."""
_WORD: Final = re.compile(r"[\u4e00-\u9fff]+|[^\s,.!?，。！？\u4e00-\u9fff]+")
_SPELLING: Final = re.compile(r"spell?|\bname is\b", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\d+(?P<unit>[^\d\s]{1,4})")
"""A figure with what it counts: 14号, 3pm."""
_EDGES: Final = " ,.!?。，！？'\"“”"


@dataclass(frozen=True, slots=True)
class Correction:
    """What should have been said, and what was said instead, where that is named."""

    right: str
    wrong: str | None = None
    spelling: bool = False
    """It only tells how a name is written."""

    def of(self, text: str, value: str | None) -> tuple[str, str] | None:
        """Which words of a text it puts right, and by which; None if it speaks of none.

        Where the wrong ones are not named, they are the value that the text gives, or the word most like the right one.
        """
        if self.wrong is not None:
            return (self.wrong, self.right) if _stands(self.wrong, text) else None
        if _stands(self.right, text):
            return None
        if value and not self.spelling and _stands(value, text) and self._fits(value):
            return value, self.right
        counted = _COUNTED.fullmatch(self.right)
        if counted is not None:
            figures = re.findall(rf"\d+{re.escape(counted['unit'])}(?!\w)", text)
            return (figures[0], self.right) if len(figures) == 1 else None
        near = max(_WORD.findall(text), key=self._likeness, default="")
        alike = self._likeness(near) >= _ALIKE and len(near) >= _SHORTEST
        return (near, self.right) if alike and _same_sort(near, self.right) else None

    def _fits(self, value: str) -> bool:
        """Whether it may stand for a value: as a figure, a name, or a word that is like it."""
        if not _same_sort(value, self.right):
            return False
        if not value.isascii():
            return not set(value).isdisjoint(self.right)
        return value[:1].isdigit() or value[:1].isupper() or self._likeness(value) >= _ALIKE

    def _likeness(self, word: str) -> float:
        return SequenceMatcher(None, word.lower(), self.right.lower()).ratio()


def put_right(text: str, words: tuple[str, str]) -> str:
    """The text with the right words for the wrong ones; `words` as `Correction.of` gives them."""
    wrong, right = words
    return re.sub(_bounded(wrong), lambda _: right, text, flags=re.IGNORECASE)


def correction_of(message: str) -> Correction | None:
    """What a message puts right, if it does nothing else."""
    message = message.strip()
    if len(message) > _LONGEST:
        return None
    language = "zh" if detect(message) == "zh" else "en"
    forms = _forms()[language]
    cue = forms.cue.match(message)
    rest = message[cue.end() :] if cue else message
    bare = forms.tail.sub("", rest)
    for number, form in enumerate(forms.forms):
        match = form.fullmatch(bare)
        if match is None:
            continue
        groups = {name: forms.tail.sub("", part).strip(_EDGES) for name, part in match.groupdict().items() if part}
        right, wrong = groups.get("right", ""), groups.get("wrong")
        meant = language == "en" and number == 0
        if right and (cue or wrong or meant) and max(len(right.split()), len((wrong or "").split())) <= _WORDS:
            return Correction(right, wrong, _SPELLING.search(rest) is not None)
    return None


@dataclass(frozen=True, slots=True)
class _Forms:
    cue: re.Pattern[str]
    forms: Sequence[re.Pattern[str]]
    tail: re.Pattern[str]


@lru_cache(maxsize=1)
def _forms() -> Mapping[str, _Forms]:
    patterns = corrections()
    return {
        language: _Forms(
            re.compile(patterns[f"cue_{language}"], re.IGNORECASE),
            [re.compile(form, re.IGNORECASE) for form in patterns[f"forms_{language}"]],
            re.compile(patterns[f"tail_{language}"], re.IGNORECASE),
        )
        for language in LANGUAGES
    }


def _stands(part: str, text: str) -> bool:
    return bool(part) and re.search(_bounded(part), text, re.IGNORECASE) is not None


def _bounded(part: str) -> str:
    plain = re.escape(part)
    return rf"(?<![A-Za-z0-9]){plain}(?![A-Za-z0-9])" if part.isascii() else plain


def _same_sort(word: str, other: str) -> bool:
    """Whether both are figures, or both names, or both plain words, of one script."""
    if word.isascii() != other.isascii() or word[:1].isdigit() != other[:1].isdigit():
        return False
    if not word.isascii():
        return len(other) <= len(word) + 1 and not other.endswith("的")
    return word[:1].isupper() == other[:1].isupper()
