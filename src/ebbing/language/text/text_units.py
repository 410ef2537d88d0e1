"""A text in the pieces that can be kept or dropped one by one: sentences, and the clauses of long ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ebbing.language.text.caches import bounded_text_cache
from ebbing.language.text.sentences import is_noise

LONGEST_BYTES: Final = 60
"""A longer sentence is taken apart into its clauses."""
SHORTEST_BYTES: Final = 18
"""A shorter clause stays with the one before it."""

_FENCE: Final = re.compile(r"((?:```|~~~).*?(?:```|~~~|\Z))", re.DOTALL)
_END: Final = re.compile(r"(?:[.](?=\s|$)|[!?。！？…])+[\"')\]”」]*\s*|\n+")
_ABBREVIATED: Final = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|No|approx)|\b[A-Za-z](?:\.[A-Za-z])*)$")
_CLAUSE: Final = re.compile(
    r"(?<=[,;，；])\s*(?!\d)"
    r"|\s+(?=(?:and|but|so|because|since|which|where|while|considering|given|although|though|if|when|after|before|until"
    r"|then)\s(?:i|i'm|i've|i'd|we|my|it|it's|he|she|they|can|how|what|that|the|you)\b)"
    r"|\s+[-–—]\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of a text."""

    text: str
    """As it stands there, without white space around it."""
    is_pasted: bool = False
    """It is code, a log or the head of a mail: nobody's words."""


@bounded_text_cache(16_384)
def units(text: str) -> tuple[Unit, ...]:
    """The pieces of a text in order; together they hold all of it but white space and dashes between clauses."""
    text_units: list[Unit] = []
    for place, part in enumerate(_FENCE.split(text)):
        if place % 2:
            text_units += [Unit(line.strip(), is_pasted=True) for line in part.splitlines() if line.strip()]
            continue
        for sentence in _sentences(part):
            noise = is_noise(sentence)
            text_units += [Unit(clause, is_pasted=noise) for clause in _clauses(sentence)]
    return tuple(text_units)


def _sentences(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        mark = end.group()
        if (
            mark.startswith(".")
            and "\n" not in mark
            and _ABBREVIATED.search(text[max(0, end.start() - 12) : end.start()])
        ):
            continue
        parts.append(text[start : end.end()].strip())
        start = end.end()
    parts.append(text[start:].strip())
    return [sentence for sentence in parts if sentence]


def _clauses(sentence: str) -> list[str]:
    if len(sentence.encode("utf-8", "surrogatepass")) <= LONGEST_BYTES:
        return [sentence]
    parts: list[str] = []
    for part in filter(None, _CLAUSE.split(sentence)):
        if parts and min(_size(parts[-1]), _size(part)) < SHORTEST_BYTES:
            joint = "" if parts[-1][-1:] in "，；" else " "
            parts[-1] = f"{parts[-1]}{joint}{part}"
        else:
            parts.append(part)
    return [clause.strip() for clause in parts]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
