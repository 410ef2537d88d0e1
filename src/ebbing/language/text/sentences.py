"""A message becomes sentences: quotations blanked, pasted matter left out, full-width signs made plain.

Everything here keeps to one pass of a linear pattern, so that hostile text costs no more than its length. A long
message is stored in parts, which end where a sentence ends.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.text.statement import Sentence

MAX_READ: Final = 4_000
"""Characters of a message that are read for facts."""
MAX_SENTENCE: Final = 400
"""A longer run without a full stop is pasted matter or noise, and is not read."""
MAX_CLAUSE: Final = 200
"""A longer clause is not read."""
QUOTED: Final = "“…”"
"""Stands where somebody's words were."""

_WIDE: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: " ",
    0x00A0: " ",
    ord("’"): "'",
    ord("‘"): "'",
    ord("`"): "'",
    ord("´"): "'",
}
_FENCE: Final = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_MEMORY_BLOCK: Final = re.compile(
    r"<(memory|memories|context|relevant_memories)>.{0,4000}?(?:</\1>|\Z)"
    r"|(?:relevant long-term memor(?:y|ies)|【[^】\n]{0,20}记忆[^】\n]{0,60}】)[^\n]*(?:\n\s*[-*•][^\n]*)*",
    re.DOTALL | re.IGNORECASE,
)
"""Memories that were given to the assistant before and come back in a message."""
_LINE_NOISE: Final = re.compile(
    r"^\s*(?:>|\$ |#!|//|Traceback|at \w+[.(]|File \"|<\w+[ >/]|[{}\[\]();]+\s*$"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]|\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE)\b"
    r"|(?:def|class|import|from|return|const|let|var|function|public|private|#include)\b.*[;:(){}=]"
    r"|(?:SELECT|INSERT|UPDATE|DELETE)\b.*[;=]|[\w.]+\s*=\s*[\w\"'\[{(]|(?:From|To|Subject|Date|Re|Fwd):\s)",
)
"""A line of code, of a log, of a mail's head, or a quoted one."""
_ATTACHED: Final = re.compile(
    r"\[(?:shares?|sends?|image|photo|picture|sticker|图片|表情|语音|照片)[^\]\n]{0,200}\]", re.IGNORECASE
)
_QUOTE: Final = re.compile(r"[“「『][^”」』\n]{1,400}[”」』]|\"[^\"\n]{1,400}\"|(?<![\w])'[^'\n]{2,300}'(?!\w)")
_PERSON: Final = re.compile(r"(?i)\b(?:I|I'm|my|me|we|our|you)\b|[我俺咱你]|(?:\w+\s+){5}")
_END: Final = re.compile(r"(?:[.](?=\s|$)|[!?。…~～])+[\"')\]”」]*\s*|\n+")
GAP: Final = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
"""A blank between Chinese characters: many type it for a comma."""
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e|a\.m|p\.m|No|approx)|\b[A-Z](?:\.[A-Z])*)$", re.ASCII
)
_EMOJI: Final = re.compile(
    r"[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+|\[[\u4e00-\u9fff]{1,4}\]|(?<=\s)[:;=][-']?[)(DPp3]+(?=\s|$)"
)


def sentences(message: str) -> list[Sentence]:
    """The sentences of a message that may hold the speaker's own words, in order."""
    # Fences go first: `_WIDE` makes other signs of their backticks.
    text = _FENCE.sub("\n", message[:MAX_READ]).translate(_WIDE)
    text = _MEMORY_BLOCK.sub("\n", text)
    text = "\n".join(line for line in text.splitlines() if not is_noise(line))
    text = _QUOTE.sub(_blank, _EMOJI.sub(" ", _ATTACHED.sub(" ", text)))
    sentence_list: list[Sentence] = []
    start = 0
    for end in _END.finditer(text):
        mark = end.group()
        if (
            mark.startswith(".")
            and "\n" not in mark
            and _ABBREVIATION.search(text[max(0, end.start() - 8) : end.start()])
        ):
            continue
        _append(sentence_list, text[start : end.start()], mark=mark)
        start = end.end()
    _append(sentence_list, text[start:], mark="")
    return sentence_list


def is_noise(line: str) -> bool:
    """Whether a line is of code, of a log, of the head of a mail, or quoted: nobody's own words."""
    return _LINE_NOISE.match(line) is not None


def _append(sentence_list: list[Sentence], text: str, *, mark: str) -> None:
    text = " ".join(text.split())
    parts = [text] if len(text) <= MAX_SENTENCE else GAP.split(text)
    sentence_list.extend(
        Sentence(part, asks="?" in mark)
        for part in parts
        if (len(part) > 1 or part.isdigit()) and len(part) <= MAX_SENTENCE
    )


def _blank(quote: re.Match[str]) -> str:
    """Somebody's words are blanked; a title or a nickname in quotation marks stays."""
    return QUOTED if _PERSON.search(quote.group()[1:-1]) else quote.group()


MAX_TEXT_LENGTH: Final = 4_000
"""Characters that one memory may hold."""
_EDGES: Final = (re.compile(r"\n\s*\n"), re.compile(r"[。！？!?…]+[”」』\"']?|\.(?=\s)|\n"), re.compile(r"[，,;；\s]"))


def split_text(text: str, limit: int = MAX_TEXT_LENGTH) -> list[str]:
    """The text in parts of at most `limit` characters, none lost but the white space at the seams.

    A seam is put at the last paragraph, else sentence, else word edge of the second half of a part, else at the limit.
    """
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        cut = _last_edge(rest, limit)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest:
        parts.append(rest)
    return parts


def _last_edge(text: str, limit: int) -> int:
    for edge in _EDGES:
        ends = [match.end() for match in edge.finditer(text, limit // 2, limit)]
        if ends:
            return ends[-1]
    return limit
