"""Which lines of a block for a prompt are its own, and which are quotations under their source."""

from __future__ import annotations

import re
from typing import Final

from ebbing.privacy.attribution import LABELS
from ebbing.privacy.guarding.quote import BULLET, CLOSE, NOTED, NOTES, OPEN
from ebbing.privacy.guarding.quote import TITLES as HEADINGS
from ebbing.recall.context.render import TITLES as GROUPS

_TITLES: Final = [title for titles in GROUPS.values() for title in titles.values()]
_OWN_LINES: Final = frozenset({OPEN, CLOSE, *HEADINGS.values(), *NOTES.values(), *_TITLES})
_LABELS: Final = [*NOTED.values(), *(label for labels in LABELS.values() for label in labels.values())]
_SOURCE: Final = rf"(?:{'|'.join(map(re.escape, _LABELS))})(?: “[^“”]*”)?(?:: |：)"
_FENCED: Final = re.compile(
    rf"{re.escape(BULLET)}(?:\d{{4}}-\d\d-\d\d )?{_SOURCE}“[^“”]*”(?: \([^()]*\)|（[^（）]*）)?"
)
"""A quotation under its source; a mark of ours may follow."""


def bare_lines(block: str) -> list[str]:
    """The lines of a block that are neither its own nor a quotation under its source."""
    return [line for line in block.splitlines() if line not in _OWN_LINES and not _FENCED.fullmatch(line)]
