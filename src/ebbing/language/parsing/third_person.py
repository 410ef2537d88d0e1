"""English told by somebody else: "I have my doubts" becomes "User has their doubts"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ebbing.language.text.statement import Speaker

_OWN: Final = re.compile(
    r"\b(?:I am|I was|I|my|me|mine|myself|we are|we were|we|our|ours|us|ourselves|you are|you|your|yours|yourself)\b",
    re.IGNORECASE,
)
_THIRD_PERSON: Final = {
    "i am": "they are", "i was": "they were", "i": "they", "my": "their", "me": "them", "mine": "theirs",
    "myself": "themselves", "we are": "they are", "we were": "they were", "we": "they", "our": "their",
    "ours": "theirs", "us": "them", "ourselves": "themselves",
}  # fmt: skip
_NEVER: Final = re.compile(r"(?:never|no longer)\s+", re.IGNORECASE)
_VERB: Final = re.compile(r"[A-Za-z]+")
_SIBILANT: Final = ("ch", "sh", "ss", "x", "zz", "o")
_PAST_LIKE: Final = frozenset(
    {"need", "feed", "breed", "speed", "bleed", "embed", "proceed", "succeed", "shed", "seed"}
)


def retold(text: str, speaker: Speaker, *, owner: str | None = None) -> str:
    """First-person words turned to third person; with `owner`, the first "my" to it and "me" to the speaker.

    A speaker whose assistant has no name speaks to it: "you" stays "you".
    """
    first = True

    def tell(match: re.Match[str]) -> str:
        nonlocal first
        word = match.group().lower()
        if word == "us" and match.group() == "US":
            return match.group()
        if owner and first and word in {"my", "our"}:
            first = False
            return owner
        if owner and word == "me":
            return speaker.name
        if word.startswith("you") and not speaker.assistant:
            return match.group()
        if word.startswith("you"):
            return {"you are": f"{speaker.assistant} is", "your": f"{speaker.assistant}'s"}.get(word, speaker.assistant)
        return _THIRD_PERSON.get(word, match.group())  # "İ" matches "i" but is not one in lower case

    return _OWN.sub(tell, text)


def in_third_person(predicate: str, words: Mapping[str, re.Pattern[str]], *, irregular: Mapping[str, str]) -> str:
    """The first verb agrees with "he": am → is, have → has, love → loves; past and modal verbs stay."""
    skipped = words["adverb_run"].match(predicate)
    at = skipped.end() if skipped else 0
    never = _NEVER.match(predicate, at)
    at = never.end() if never else at
    verb = _VERB.match(predicate, at)
    if verb is None:
        return predicate
    word = verb.group()
    return f"{predicate[:at]}{_inflected(word, irregular)}{predicate[verb.end() :]}"


def _inflected(word: str, irregular: Mapping[str, str]) -> str:
    lower = word.lower()
    if lower in irregular:
        return irregular[lower] or word
    if lower.endswith("ed") and lower not in _PAST_LIKE:
        return word
    if lower.endswith(_SIBILANT):
        return f"{word}es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def bare_verb(predicate: str, bare: Mapping[str, str], *, third: bool) -> str:
    """The first verb in the form that the rules know: is → am, was stays, lives → live (where `third`)."""
    verb = _VERB.match(predicate)
    if verb is None:
        return predicate
    word = verb.group().lower()
    return f"{_base(word, bare) if third or word in bare else verb.group()}{predicate[verb.end() :]}"


def _base(word: str, bare: Mapping[str, str]) -> str:
    if word in bare:
        return bare[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes", "oes")) else word[:-1]
