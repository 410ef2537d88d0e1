"""What the documentation says, as data for the tests beside this file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
NOT_RUN = "<!-- not run -->"
FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<language>[\w-]*).*?\n(?P<code>.*?)^(?P=ticks)`*\s*$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block of a page. `line` is that of its first line of code."""

    language: str
    code: str
    line: int
    runs: bool


def pages() -> list[Path]:
    """README.md and every page under docs/."""
    readme = REPOSITORY / "README.md"
    return [*([readme] if readme.exists() else []), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a Markdown text, in order."""
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()].rstrip()
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(Block(match["language"], match["code"], line, runs=not before.endswith(NOT_RUN)))
    return found


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without backticks; separators are left out."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]


def mentions(word: str, text: str) -> bool:
    """True if the word stands alone in the text, not as part of a longer name."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
