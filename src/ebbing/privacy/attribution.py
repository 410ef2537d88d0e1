"""Whose words a memory is, as a prompt must show them: only the person's own plain statement stands there as it is.

Everything else is quoted under the name of its source: what was said word for word, brought along in a file, written by
hand, set for a whole tenant, heard from an assistant, a tool or a document, and every wish about how to be answered. So
no text can pass for the memory's own voice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ebbing.domain.memory.record import MemoryRecord, MemoryType, Role
from ebbing.privacy.guarding.grammar import without_quotes
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped, trust_in

MAX_BRIEF: Final = 32
"""Letters of a value that says no more than what something is called; a Chinese one counts for four."""
MAX_BRIEF_WORDS: Final = 4
_READ: Final = frozenset({"rule", "llm", "merge"})
"""Methods that make a statement of what was said."""
_STATEMENT: Final = re.compile(r"^(?:the )?user(?:'s)?\b|^用户", re.IGNORECASE)
"""A statement about the person names them first."""
_OWN: Final = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我咱俺]|本人", re.IGNORECASE)
_MARK: Final = re.compile(r"[“”\"「」『』]")
"""With a quotation in it, a statement is partly somebody's words."""
_UNENDED: Final = re.compile(r"[“\"「『][^”\"」』]*$")
"""A quotation that goes on in the next sentence."""
_WISH: Final = re.compile(
    r"^(?:the )?user's (?:rule|wish(?:es)?)\s*[:：]\s*|^用户(?:的)?(?:要求|希望)\s*[:：]\s*", re.IGNORECASE
)
_ADDRESS: Final = re.compile(
    r"\[(?:REDACTED_)?(?:EMAIL|URL|IP)|https?:|www\.|@\w|\b[\w-]+\.(?:com|net|org|io|cn|example|xyz|ru|co|app|dev|info|biz)\b",
    re.I,
)


class Source(StrEnum):
    """Where quoted words come from."""

    USER = "user"
    WISH = "wish"
    """The person, of how they want to be answered."""
    HAND = "hand"
    """Somebody wrote it by hand: a profile's value, or the new wording of a memory."""
    IMPORT = "import"
    DEFAULT = "default"
    """It holds for everybody of a tenant of whom nothing else is known."""
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    DOCUMENT = "document"


LABELS: Final[Mapping[str, Mapping[Source, str]]] = {
    "en": {
        Source.USER: "user",
        Source.WISH: "user's wish",
        Source.HAND: "by hand",
        Source.IMPORT: "imported",
        Source.DEFAULT: "default",
        Source.ASSISTANT: "assistant",
        Source.SYSTEM: "system",
        Source.TOOL: "tool",
        Source.DOCUMENT: "document",
    },
    "zh": {
        Source.USER: "用户",
        Source.WISH: "用户要求",
        Source.HAND: "手动填写",
        Source.IMPORT: "导入",
        Source.DEFAULT: "默认",
        Source.ASSISTANT: "助手",
        Source.SYSTEM: "系统",
        Source.TOOL: "工具",
        Source.DOCUMENT: "文档",
    },
}
"""How each is called in a prompt, by language."""
_OF_TIER: Final = {
    TrustTier.IMPORT: Source.IMPORT,
    TrustTier.ASSISTANT: Source.ASSISTANT,
    TrustTier.TOOL: Source.TOOL,
    TrustTier.DOCUMENT: Source.DOCUMENT,
}
_OF_METHOD: Final = {"user": Source.HAND, "import": Source.IMPORT, "default": Source.DEFAULT}


def source_of(record: MemoryRecord) -> Source | None:
    """Under which name a memory's words must be quoted; None for the person's own plain statement."""
    method, tier = record.provenance.method, trust_in(record)
    if record.role is Role.SYSTEM:
        return Source.SYSTEM
    if tier in _OF_TIER:
        return _OF_TIER[tier]
    if method in _OF_METHOD:
        return None if _is_set_briefly(record) else _OF_METHOD[method]
    if record.type is MemoryType.PROCEDURAL or _WISH.match(record.content):
        return Source.WISH
    is_own = method in _READ and _says_it_of_themselves(record) and _is_plain(record.content)
    return None if is_own else Source.USER


def quotable(record: MemoryRecord) -> str:
    """The words to quote: a wish without what introduces it."""
    return _WISH.sub("", record.content, count=1)


def is_brief(value: str) -> bool:
    """Whether a value is too short to say more than what something is called."""
    length = sum(1 if letter.isascii() else 4 for letter in value)
    return 0 < length <= MAX_BRIEF and len(value.split()) <= MAX_BRIEF_WORDS


def _says_it_of_themselves(record: MemoryRecord) -> bool:
    """Whether the sentence that it was read from has the speaker in it: an order has none ("put it on every list").

    What several memories came to is made of statements.
    """
    origin = record.provenance
    words = _UNENDED.sub("", without_quotes(origin.source_text or ""))
    return origin.method == "merge" or _OWN.search(words) is not None


def _is_set_briefly(record: MemoryRecord) -> bool:
    """Whether the person set a short value in their profile."""
    own = record.provenance.method == "user" and record.provenance.rule == "profile"
    value = record.value or ""
    is_short = is_brief(value) and len(record.content) <= len(value) + MAX_BRIEF
    return own and is_short and record.type is not MemoryType.PROCEDURAL and _is_plain(record.content)


def _is_plain(text: str) -> bool:
    """Whether a text just says something of the person."""
    says = _STATEMENT.match(text) is not None and not _ADDRESS.search(text) and not _MARK.search(text)
    return says and instruction_shaped(text, spoken_by_user=True) is None
