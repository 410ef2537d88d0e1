"""Memories that were put into a prompt and come back in the conversation: taken out, so that they are not learnt again.

A store that reads its own output turns one guess into many memories, each more certain than the last.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from ebbing.privacy.guarding.quote import CLOSE, NOTES, OPEN

_BULLET = re.compile(r"[ \t]*(?:[-*•·‣▪–]|\d{1,3}[.)、])[ \t]*\S")
_QUOTED_LINE = re.compile(r"^(?:[ \t]*>)+[ \t]?")
_PREAMBLE_LINES = 3
_MANY_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def strip_recalled(text: str) -> str:
    """The text without blocks of recalled memories, and without memories quoted back ('you told me: "…"').

    Known are the block of `quote.block`, headings such as "Relevant long-term memory:", "【用户长期记忆（…）】" or
    "【用户画像】" with the list below them (also behind ">" marks), and the phrases of `recalled.toml`. A heading
    without a list is the user's own word and stays. A text without recalled memories comes back as it is.
    """
    stripped = _without_phrases(_without_lists(_without_delimited(text)))
    return text if stripped == text else _MANY_BLANK_LINES.sub("\n\n", stripped).strip()


def _without_delimited(text: str) -> str:
    parts: list[str] = []
    at = 0
    while (begin := text.find(OPEN, at)) >= 0:
        end = text.find(CLOSE, begin)
        if end < 0:
            break  # cut off: the heading inside says how far the block goes
        parts.append(text[at:begin])
        at = end + len(CLOSE)
    return "".join((*parts, text[at:])) if parts or at else text


def _without_lists(text: str) -> str:
    marks = _patterns()
    if not any(map(text.lower().__contains__, marks.words)):
        return text
    lines = text.split("\n")
    remaining: list[str] = []
    at = 0
    while at < len(lines):
        end = _end_of_list(lines, at) if marks.heading.match(_bare(lines[at])) else at
        if end == at:
            remaining.append(lines[at])
            end = at + 1
        at = end
    return "\n".join(remaining)


def _end_of_list(lines: list[str], heading: int) -> int:
    """The line after the list below a heading; the heading itself if there is no list."""
    at = heading + 1
    while at < len(lines) and at - heading <= _PREAMBLE_LINES and not _BULLET.match(_bare(lines[at])):
        if not _is_preamble(_bare(lines[at])):
            return heading
        at += 1
    first = at
    while at < len(lines) and _BULLET.match(_bare(lines[at])):
        at += 1
    if at == first:
        return heading
    return at + 1 if at < len(lines) and lines[at].strip() == CLOSE else at


def _is_preamble(line: str) -> bool:
    """Between a heading and its list stand only empty lines, our own note, other headings, and "as follows:"."""
    line = line.strip()
    return not line or line in NOTES.values() or line.endswith((":", "：")) or bool(_patterns().heading.match(line))


def _bare(line: str) -> str:
    return _QUOTED_LINE.sub("", line)


def _without_phrases(text: str) -> str:
    return _patterns().phrase.sub(" ", text) if any(map(text.__contains__, '"“「『')) else text


@dataclass(frozen=True, slots=True)
class _Patterns:
    heading: re.Pattern[str]
    words: tuple[str, ...]
    """In lower case; one of them stands in every heading."""
    phrase: re.Pattern[str]


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    data = tomllib.loads((files("ebbing.privacy") / "recalled.toml").read_text("utf-8"))
    flags = re.VERBOSE | re.IGNORECASE
    heading = rf"[ \t]*(?:{re.escape(OPEN)}[ \t]*$|[\#*_【\[（(\s]{{0,8}}(?:{data['heading']}))"
    return _Patterns(
        heading=re.compile(heading, flags),
        words=(OPEN, *data["words"]),
        phrase=re.compile(data["phrase"], flags),
    )
