"""Personal and secret data taken out of a text, before it is stored, sent or logged.

What is looked for stands in `patterns.toml`; `checksums.py` says whether a find is real. Names of people are never
touched: a memory without names is of no use.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Self, TypeVar

from ebbing.domain.errors import ConfigurationError
from ebbing.privacy.checksums import CHECKS, Check
from ebbing.privacy.folding import HIDDEN, fold

_Kind = TypeVar("_Kind", bound=StrEnum)


class Action(StrEnum):
    """What becomes of a find."""

    ALLOW = "allow"
    """It stays as it is, and is not reported."""
    MASK = "mask"
    """`[REDACTED_PHONE]` takes its place."""
    HASH = "hash"
    """`[PHONE:kbdmhoac…]` takes its place: the same value under the same key always gives the same letters."""
    DROP = "drop"
    """It goes without a trace in the text."""
    BLOCK = "block"
    """The whole text is refused: nothing of it may be stored or sent."""


class Category(StrEnum):
    """What a find is. Names of people are none of these, on purpose."""

    EMAIL = "email"
    PHONE = "phone"
    ID_CARD = "id_card"
    BANK_CARD = "bank_card"
    IBAN = "iban"
    US_SSN = "us_ssn"
    PASSPORT = "passport"
    API_KEY = "api_key"
    PASSWORD = "password"  # noqa: S105 - a category's name
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    IP_ADDRESS = "ip_address"


MASK_ALL: Final[Mapping[Category, Action]] = MappingProxyType(
    dict.fromkeys(Category, Action.MASK) | {Category.IP_ADDRESS: Action.ALLOW}
)


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """What to do with each category. Left out means: as by default, masked, but IP addresses stay."""

    actions: Mapping[Category, Action] = field(default_factory=lambda: MASK_ALL)
    hash_key: bytes = field(default=b"", repr=False)
    """Secret of the installation, needed by `hash`: without it a digest of a phone number is found by trying all."""

    allowed: frozenset[Category] = field(init=False, repr=False, compare=False)
    """The categories that stay as they are."""

    def __post_init__(self) -> None:
        chosen = {**MASK_ALL, **{_member(Category, key): _member(Action, do) for key, do in self.actions.items()}}
        object.__setattr__(self, "actions", MappingProxyType(chosen))
        object.__setattr__(self, "allowed", frozenset(key for key, do in chosen.items() if do is Action.ALLOW))
        if Action.HASH in chosen.values() and not self.hash_key:
            raise ConfigurationError("the redaction action 'hash' needs a hash_key; set one, or use 'mask'")

    def but(self, **actions: str) -> Self:
        """The same policy with other actions for some categories: `DEFAULT.but(email="allow", password="block")`.

        Raises ConfigurationError for a category or an action that does not exist.
        """
        changed = {_member(Category, name): _member(Action, action) for name, action in actions.items()}
        return replace(self, actions={**self.actions, **changed})


def _member(kind: type[_Kind], name: str) -> _Kind:
    try:
        return kind(name)
    except ValueError:
        known = ", ".join(kind)
        raise ConfigurationError(f"{name!r} is no redaction {kind.__name__.lower()}; use one of {known}") from None


DEFAULT: Final = RedactionPolicy()


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something was found in the original text, as `text[begin:end]`. It never holds the value itself."""

    category: Category
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text as it may be kept."""

    text: str
    """Without what was found; empty if the text is blocked."""
    findings: tuple[Finding, ...] = ()
    """In the order of the text, never overlapping; what is allowed is not among them."""
    blocked: bool = False


def redact(text: str, policy: RedactionPolicy = DEFAULT) -> Redacted:
    """The text without personal and secret data, what was found where, and whether it may be kept at all.

    Redacting twice changes nothing more. A text without findings comes back as it is.
    """
    findings = tuple(one for one in find(text, allowed=policy.allowed) if one.category not in policy.allowed)
    if not findings:
        return Redacted(text)
    if any(policy.actions[one.category] is Action.BLOCK for one in findings):
        return Redacted("", findings, blocked=True)
    return Redacted(_rewritten(text, findings, policy=policy), findings)


def find(text: str, *, allowed: frozenset[Category] = frozenset()) -> list[Finding]:
    """Everything of every category in a text, in its order, without overlaps.

    An `allowed` category is still found where that keeps another from misreading it, and not looked for otherwise.
    """
    folded = fold(text)
    found: list[tuple[int, int, Category]] = []
    working = folded.text
    for _ in range(_ROUNDS):
        fresh = _spans(working, _detectors(allowed))
        if not fresh:
            break
        found += fresh
        working = _hidden(working, fresh)
    return [Finding(category, *folded.original(begin, end)) for begin, end, category in sorted(found)]


# ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Detector:
    category: Category
    pattern: re.Pattern[str]
    group: str | int
    need: tuple[tuple[str, ...], tuple[str, ...]]
    """In ASCII, and in other scripts."""
    digits: int = 0
    word: int = 0
    check: Check | None = None
    unless_before: re.Pattern[str] | None = None


_Span = tuple[int, int, Category]
_BEFORE: Final = 32
"""Characters before a find that are looked at for what speaks against it."""
_NEXT: Final = 256
"""Characters right behind a find in which the next may begin."""
_ROUNDS: Final = 8
"""What is hidden ends words and numbers, so that a neighbour may show itself only in the next round. Two rounds are the
rule; the limit is for texts that are made to need thousands."""
_AROUND: Final = 24
"""Characters before and after a run of digits that may belong to the find, or decide about it."""
_RUN: Final = re.compile(r"[0-9](?:[ .()-]{0,2}+[0-9]){6,}+")
_DATE: Final = re.compile(r"(?:19|20)[0-9]{2}[-. ](?:0?[1-9]|1[0-2])[-. ][0-3]?[0-9](?: [0-9]{1,2})?")
_DATE_DIGITS: Final = 10
_NO_DIGIT: Final = re.compile(r"[^0-9]+")


def _spans(working: str, detectors: tuple[_Detector, ...]) -> list[_Span]:
    """One round: what the detectors find, each looking at what the ones before it have left."""
    traits = _traits(working)
    spans: list[_Span] = []
    for detector in detectors:
        if not _is_worth_trying(detector, traits):
            continue
        whole = any(detector.need) or not detector.digits
        windows = [(0, len(working))] if whole else _windows(traits.runs, detector.digits)
        fresh = [span for window in windows for span in _matches(detector, working, window=window)]
        if fresh:
            working = _hidden(working, fresh)
            spans += fresh
    return spans


@dataclass(frozen=True, slots=True)
class _Traits:
    """What a text shows at a glance, so that most detectors need not read it."""

    lower: str
    lower_ascii: str
    word: int
    runs: list[tuple[int, int, int]]
    digits: int


def _traits(working: str) -> _Traits:
    lower = working.lower()
    # Joining what stood around other scripts only lets a detector try in vain; it hides nothing.
    lower_ascii = lower if lower.isascii() else lower.encode("ascii", "ignore").decode("ascii")
    runs = _runs(working)
    return _Traits(
        lower=lower,
        lower_ascii=lower_ascii,
        word=max(map(len, lower_ascii.split()), default=0),
        runs=runs,
        digits=max((digits for _, _, digits in runs), default=0),
    )


def _is_worth_trying(detector: _Detector, traits: _Traits) -> bool:
    if detector.digits > traits.digits or detector.word > traits.word:
        return False
    need_ascii, need_other = detector.need
    return (
        not (need_ascii or need_other)
        or any(map(traits.lower_ascii.__contains__, need_ascii))
        or any(map(traits.lower.__contains__, need_other))
    )


def _runs(working: str) -> list[tuple[int, int, int]]:
    """Where digits stand together, and how many; a date and time by itself is none."""
    runs = []
    for match in _RUN.finditer(working):
        digits = len(_NO_DIGIT.sub("", match.group()))
        if digits > _DATE_DIGITS or not _DATE.fullmatch(match.group()):
            runs.append((*match.span(), digits))
    return runs


def _windows(runs: list[tuple[int, int, int]], digits: int) -> Iterator[tuple[int, int]]:
    """The surroundings of the runs with so many digits, without overlaps."""
    begin = end = 0
    for first, last, count in runs:
        if count < digits:
            continue
        if first - _AROUND > end:
            if end:
                yield begin, end
            begin = max(first - _AROUND, 0)
        end = last + _AROUND
    if end:
        yield begin, end


def _matches(detector: _Detector, working: str, *, window: tuple[int, int]) -> Iterator[_Span]:
    at, stop = window
    while True:
        match = detector.pattern.search(working, at, stop)
        if match is None:
            return
        begin, end = match.span(detector.group)
        length = _accepted(detector, working, begin=begin, end=end)
        at = match.start() + 1  # the real thing may begin inside what only looked like it
        while length:
            yield begin, begin + length, detector.category
            at = begin + length
            # A find ends the word, so the next may stand right behind it: in a slice nothing stands before it.
            next_match = detector.pattern.match(working[at : min(at + _NEXT, stop)])
            if next_match is None:
                break
            begin, end = (at + offset for offset in next_match.span(detector.group))
            length = _accepted(detector, working, begin=begin, end=end)


def _accepted(detector: _Detector, working: str, *, begin: int, end: int) -> int:
    """How many characters from `begin` are what the detector looks for."""
    candidate = working[begin:end]
    if HIDDEN in candidate:
        return 0
    length = detector.check(candidate) if detector.check else len(candidate)
    if length and detector.unless_before and detector.unless_before.search(working[max(begin - _BEFORE, 0) : begin]):
        return 0
    return length


def _hidden(working: str, spans: list[_Span]) -> str:
    parts: list[str] = []
    at = 0
    for begin, end, _ in sorted(spans):
        parts += working[at:begin], HIDDEN * (end - begin)
        at = end
    return "".join((*parts, working[at:]))


@lru_cache(maxsize=64)
def _detectors(allowed: frozenset[Category]) -> tuple[_Detector, ...]:
    """All detectors, but for the last ones whose finds would be let through anyway."""
    detectors = _all_detectors()
    while detectors and detectors[-1].category in allowed:
        detectors = detectors[:-1]
    return detectors


@lru_cache(maxsize=1)
def _all_detectors() -> tuple[_Detector, ...]:
    data = tomllib.loads((files("ebbing.privacy") / "patterns.toml").read_text("utf-8"))
    flags = re.VERBOSE | re.IGNORECASE | re.ASCII
    before = {name: re.compile(pattern, flags) for name, pattern in data["before"].items()}
    return tuple(
        _Detector(
            category=Category(entry["category"]),
            pattern=(pattern := re.compile(entry["pattern"], flags)),
            group="value" if "value" in pattern.groupindex else 0,
            need=(
                tuple(literal for literal in entry.get("need", ()) if literal.isascii()),
                tuple(literal for literal in entry.get("need", ()) if not literal.isascii()),
            ),
            digits=entry.get("digits", 0),
            word=entry.get("word", 0),
            check=CHECKS[entry["check"]] if "check" in entry else None,
            unless_before=before[entry["unless_before"]] if "unless_before" in entry else None,
        )
        for entry in data["detector"]
    )


# ── rewriting ────────────────────────────────────────────────────────────────────────────────────────────────────────

_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
"""Digests are written in letters: sixteen digits in a row would look like a card."""


def _rewritten(text: str, findings: tuple[Finding, ...], *, policy: RedactionPolicy) -> str:
    parts: list[str] = []
    at = 0
    for one in findings:
        parts += text[at : one.begin], _replacement(text[one.begin : one.end], one.category, policy=policy)
        at = one.end
    return "".join((*parts, text[at:]))


def _replacement(value: str, category: Category, *, policy: RedactionPolicy) -> str:
    action = policy.actions[category]
    if action is Action.DROP:
        return ""
    if action is Action.HASH:
        return f"[{category.upper()}:{_digest(value, policy.hash_key)}]"
    return f"[REDACTED_{category.upper()}]"


def _digest(value: str, key: bytes) -> str:
    """Keyed BLAKE2b of the value's letters and digits: `138 1234-5678` is the number `13812345678`."""
    bare = re.sub(r"[\s()-]+", "", fold(value).text).casefold()
    secret = hashlib.blake2b(key).digest()  # a key of any length
    digest = hashlib.blake2b(bare.encode("utf-8", "surrogatepass"), key=secret, digest_size=8)
    return digest.hexdigest().translate(_LETTERS)
