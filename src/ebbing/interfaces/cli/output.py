"""What a command shows: text for people, or JSON for programs; never both."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

PIPED_WIDTH: Final = 100
"""Columns of text that goes into a pipe or a file."""
_BIDI: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Screen:
    """Where a command's answer goes. Progress and errors go to stderr, answers to stdout."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.console = _console(sys.stdout)
        self.aside = _console(sys.stderr)

    def emit(self, data: object) -> None:
        """One JSON document."""
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")

    def emit_if_json(self, data: object) -> bool:
        """Answer with one JSON document if JSON was asked for; whether it was."""
        if self.as_json:
            self.emit(data)
        return self.as_json

    def say(self, *parts: str | tuple[str, str] | Text, indent: int = 0) -> None:
        """A paragraph. A part is shown as it stands, or with a style: `("text", "bold")`."""
        text = Text()
        for part in parts:
            if isinstance(part, tuple):
                text.append(plain(part[0]), style=part[1])
            else:
                text.append(part if isinstance(part, Text) else plain(part))
        for line in text.wrap(self.console, max(20, self.console.width - indent)):
            line.rstrip()
            self.console.print(Text(" " * indent) + line, soft_wrap=True)

    def rows(self, rows: Sequence[tuple[str, str]], *, indent: int = 0, style: str = "dim") -> None:
        """Names and values in two columns: at least two spaces apart, and long values within theirs."""
        width = max((cell_len(name) for name, _ in rows), default=0) + 2
        room = max(20, self.console.width - indent - width)
        for name, value in rows:
            first, *rest = Text(plain(value)).wrap(self.console, room) or [Text()]
            blank = " " * (indent + width)
            label = " " * indent + plain(name) + " " * (width - cell_len(name))
            self.console.print(Text(label, style=style) + first, soft_wrap=True)
            for line in rest:
                self.console.print(Text(blank) + line, soft_wrap=True)

    def note(self, line: str) -> None:
        """A remark beside the answer, on stderr."""
        sys.stderr.write(f"ebbing: {plain(line)}\n")

    def gap(self) -> None:
        """An empty line."""
        self.console.print()


def plain(text: str) -> str:
    """The text without what would steer a terminal: control characters and changes of writing direction."""
    return "".join(
        char if char == "\n" or (unicodedata.category(char) != "Cc" and char not in _BIDI) else " " for char in text
    )


def bar(share: float, *, width: int = 10) -> str:
    """A bar of `width` cells, filled to `share` in [0, 1]."""
    filled = round(min(1.0, max(0.0, share)) * width)
    return "█" * filled + "░" * (width - filled)


def day(moment: str | None) -> str:
    """The date of an ISO time where the reader is."""
    return _local(moment).date().isoformat() if moment else "?"


def minute(moment: str | None) -> str:
    """Date and time of an ISO time where the reader is, to the minute, with the zone."""
    if not moment:
        return "?"
    local = _local(moment)
    offset = local.strftime("%z")
    zone = f"{offset[:3]}:{offset[3:5]}" if local.utcoffset() else "UTC"
    return f"{local:%Y-%m-%d %H:%M} {zone}"


def _local(moment: str) -> datetime:
    """A time as the clock on the wall shows it; one without a zone is in UTC."""
    parsed = datetime.fromisoformat(moment)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone()


def dotted(parts: Iterable[str | None]) -> str:
    """The parts that there are, side by side."""
    return " · ".join(part for part in parts if part)


def said_by(item: Mapping[str, Any]) -> str | None:
    """Who said it: the speaker's name, else the role."""
    return item.get("actor_id") or item.get("role")


def _console(stream: Any) -> Console:
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPED_WIDTH)
