"""Messages that say of whom the last statement was: "no wait, that was my brother, not me", 过敏的是我弟，不是我."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ebbing.language.claims.change_patterns import corrections
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import quoted_words

_LONGEST: Final = 100
"""Characters of a message that does nothing else."""
_OWN: Final = {"en": re.compile(r"(?i)^(?:my|our) "), "zh": re.compile(r"^[我俺咱]们?(?:家|的)*")}
_LAUGHS: Final = re.compile(r"(?i) ?\b(?:lol|lmao|haha\w*|tbh|oops)\b|[哈嘿呵]{2,}")
_NOBODY: Final = frozenset("That This It Not Yes No Oh Sorry Actually The".split())
"""Words with a capital that are no names."""


@dataclass(frozen=True, slots=True)
class RightPerson:
    """Somebody of whom it was said, and not of the speaker."""

    who: str
    """In the speaker's words: "my brother", "Tom", 我弟."""
    about: str
    """Words of what is so of them, where the message says any."""
    language: str

    def of(self, text: str, speakers: Sequence[str]) -> str | None:
        """The statement told of the right person; None where it is not the speaker's, says something else, or quotes.

        Args:
            text: a statement in the third person.
            speakers: how it may name the speaker.
        """
        owner = "的" if self.language == "zh" else r"['’\w]"
        speaker = next((name for name in speakers if re.match(rf"{re.escape(name)}(?!{owner})", text)), None)
        says_it = set(query_terms(self.about)) <= {*query_terms(text)}
        if speaker is None or not says_it or quoted_words(text) is not None:
            return None
        own = _OWN[self.language].sub("", self.who)
        link = "的" if self.language == "zh" else "'s "
        return f"{self.who if own == self.who else f'{speaker}{link}{own}'}{text[len(speaker) :]}"


def right_person_of(message: str) -> RightPerson | None:
    """Whom a message names as the one whom the last statement is about, if it does nothing else."""
    message = message.strip()
    language = "zh" if detect(message) == "zh" else "en"
    if len(message) > _LONGEST:
        return None
    cue = re.match(corrections()[f"cue_{language}"], message, re.IGNORECASE)
    rest = _LAUGHS.sub("", message[cue.end() :] if cue else message)
    rest = re.sub(corrections()[f"tail_{language}"], "", rest)
    for needs_cue, form in _forms()[language]:
        match = form.fullmatch(rest)
        if match is not None and (cue or not needs_cue) and match["who"] not in _NOBODY:
            return RightPerson(match["who"], (match["about"] or "").strip(), language)
    return None


@lru_cache(maxsize=1)
def _forms() -> Mapping[str, Sequence[tuple[bool, re.Pattern[str]]]]:
    """The forms of each language, and whether such a message has to begin with a word that takes something back."""
    packs = Packs.load().by_language
    forms = corrections()["whose"]
    return {
        language: [
            (needs_cue, re.compile(form.replace("{kin}", packs[language].words["kin"].pattern), re.IGNORECASE))
            for needs_cue, key in ((False, f"plain_{language}"), (True, f"cued_{language}"))
            for form in forms[key]
        ]
        for language in packs
    }
