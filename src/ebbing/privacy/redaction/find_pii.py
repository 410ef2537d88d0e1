"""Where personal and secret data stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ebbing.privacy.redaction.detectors import Category, Detector, detectors, literals, reference
from ebbing.privacy.redaction.fold_text import HIDDEN, fold


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something was found in the original text, as `text[begin:end]`. It never holds the value itself."""

    category: Category
    begin: int
    end: int


def find(text: str, *, allowed: frozenset[Category] = frozenset()) -> list[Finding]:
    """Everything of every category in a text, in its order, without overlaps.

    An `allowed` category is still found where that keeps another from misreading it, and not looked for otherwise.
    """
    folded = fold(text)
    findings: list[tuple[int, int, Category]] = []
    working = folded.text
    if "[" in working:
        working = _PLACEHOLDER.sub(lambda match: HIDDEN * len(match.group()), working)
    for _ in range(_ROUNDS):
        fresh = _spans(working, allowed)
        if not fresh:
            break
        findings += fresh
        working = _hidden(working, fresh)
    return (
        [Finding(category, *folded.original(begin, end)) for begin, end, category in sorted(findings)]
        if findings
        else []
    )


_PLACEHOLDER: Final = re.compile(rf"\[(?:REDACTED_[A-Z_]{{2,40}}|(?:{'|'.join(Category).upper()}):[a-p]{{16}})\]")
"""What was taken out before, so that redacting twice changes nothing."""
_Span = tuple[int, int, Category]
_BEFORE: Final = 24
"""Characters before a find that are looked at for what speaks against it."""
_NEXT: Final = 256
"""Characters right behind a find in which the next may begin."""
_ROUNDS: Final = 8
"""What is hidden ends words and numbers, so that a neighbour may show itself only in the next round. Two rounds are the
rule; the limit is for texts that are made to need thousands."""
_CONTEXT_CHARACTERS: Final = 24
"""Characters before and after a run of digits that may belong to the find, or decide about it."""
_RUN: Final = re.compile(r"[0-9](?:[ .()-]{0,2}+[0-9]){6,}+")
_DATE: Final = re.compile(r"(?:19|20)[0-9]{2}[-. ](?:0?[1-9]|1[0-2])[-. ][0-3]?[0-9](?: [0-9]{1,2})?")
_DATE_DIGITS: Final = 10
_WORD: Final = re.compile(r"[!-~]{8,}+")
_NO_DIGIT: Final = re.compile(r"[^0-9]+")


def _spans(working: str, allowed: frozenset[Category]) -> list[_Span]:
    """One round: what the detectors find, each looking at what the ones before it have left."""
    traits = _traits(working)
    spans: list[_Span] = []
    if traits is None:
        return spans
    for detector in detectors(allowed):
        if detector.digits > traits.digits or detector.word > traits.word:
            continue
        if detector.need and detector.need.isdisjoint(traits.seen):
            continue
        whole = detector.need or not detector.digits
        windows = [(0, len(working))] if whole else _windows(traits.runs, detector.digits)
        fresh = [span for window in windows for span in _matches(detector, working, window=window)]
        if fresh:
            working = _hidden(working, fresh)
            spans += fresh
    return spans


class _Traits(NamedTuple):
    """What a text shows at a glance, so that most detectors need not read it."""

    seen: list[str]
    """The literals that stand in it."""
    word: int
    """Characters of the longest word; 0 where no literal stands in it: a detector that asks for a word needs one."""
    runs: list[tuple[int, int, int]]
    digits: int


def _traits(working: str) -> _Traits | None:
    """None if it shows nothing: each detector needs a literal or digits."""
    lower = working.lower()
    in_ascii, in_other_scripts = literals()
    # Joining what stood around other scripts only lets a detector try in vain; it hides nothing.
    lower_ascii = lower if lower.isascii() else lower.encode("ascii", "ignore").decode("ascii")
    shared = filter(lower_ascii.__contains__, in_ascii)
    seen = [literal for part in shared for literal in in_ascii[part] if literal in lower_ascii]
    if lower_ascii is not lower:
        seen += filter(lower.__contains__, in_other_scripts)
    runs = _runs(working)
    if not seen and not runs:
        return None
    return _Traits(
        seen=seen,
        word=max(map(len, _WORD.findall(lower)), default=0) if seen else 0,
        runs=runs,
        digits=max([digits for _, _, digits in runs]) if runs else 0,
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
        if first - _CONTEXT_CHARACTERS > end:
            if end:
                yield begin, end
            begin = max(first - _CONTEXT_CHARACTERS, 0)
        end = last + _CONTEXT_CHARACTERS
    if end:
        yield begin, end


def _matches(detector: Detector, working: str, *, window: tuple[int, int]) -> Iterator[_Span]:
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


def _accepted(detector: Detector, working: str, *, begin: int, end: int) -> int:
    """How many characters from `begin` are what the detector looks for."""
    candidate = working[begin:end]
    if HIDDEN in candidate:
        return 0
    length = detector.check(candidate) if detector.check else len(candidate)
    if length and detector.not_reference and reference().ends(working[max(begin - _BEFORE, 0) : begin]):
        return 0
    return length


def _hidden(working: str, spans: list[_Span]) -> str:
    parts: list[str] = []
    at = 0
    for begin, end, _ in sorted(spans):
        parts += working[at:begin], HIDDEN * (end - begin)
        at = end
    return "".join((*parts, working[at:]))
