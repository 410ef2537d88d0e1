"""Our lines in configuration files of other formats: they stand between two marks, and no other line is touched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

BEGIN: Final = "# ebbing: begin (`ebbing disconnect` takes these lines out)"
END: Final = "# ebbing: end"
_MARKED: Final = re.compile(
    r"^[ \t]*# ebbing: begin.*?^[ \t]*# ebbing: end[^\r\n]*(?:\r?\n)?", re.MULTILINE | re.DOTALL
)
_MARK: Final = re.compile(r"^[ \t]*# ebbing: (?:begin|end)[^\r\n]*(?:\r?\n)?", re.MULTILINE)
_LINE_END: Final = re.compile(r"\r?\n")


def with_marked(text: str, at: int, *, lines: Sequence[str], indent: str = "") -> str:
    """Return the text with our lines before this place, which is the begin of a line or the end of the text.

    Where the line before them has no end, ours has none either: so it is known when they go.
    """
    matched = _LINE_END.search(text)
    line_end = matched[0] if matched else "\n"
    block = line_end.join(f"{indent}{line}" for line in (BEGIN, *lines, END))
    is_open = at > 0 and text[at - 1] != "\n"
    return text[:at] + (line_end + block if is_open else block + line_end) + text[at:]


def without_marked(text: str, *, others_in: Callable[[str], str] = lambda _: "") -> str:
    """Return the text without our lines.

    Args:
        others_in: what of the lines between the marks stays: somebody else may have written there.
    """
    while (matched := _MARKED.search(text)) is not None:
        begin, end = matched.span()
        others = others_in("".join(matched[0].splitlines(keepends=True)[1:-1]))
        if end == len(text) and not matched[0].endswith("\n") and not others:
            begin -= len(text[:begin]) - len(text[:begin].removesuffix("\n").removesuffix("\r"))
        text = text[:begin] + others + text[end:]
    return text


def without_marks(text: str) -> str:
    """Return the text with the lines between our marks, and without the marks."""
    return _MARK.sub("", text)


def quoted(value: str | list[str]) -> str:
    """Return a value that TOML and YAML read as JSON does."""
    return json.dumps(value, ensure_ascii=False)
