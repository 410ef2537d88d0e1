"""What may become a memory, and what a memory may do: trust in where it comes from, and a look at how it speaks.

Trust is the real defence: what a tool or a document says cannot become a wish of the user nor touch what the user said,
however it is worded. The look at the wording is a second net; it holds orders to the model back for review.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Role
from ebbing.privacy.guarding.orders import harmful_order
from ebbing.privacy.redaction.fold_text import INVISIBLE

MAX_JUDGED: Final = 20_000
"""Characters of a text that are looked at, half from its beginning and half from its end."""


class TrustTier(StrEnum):
    """Whose word something is, the most trusted first."""

    USER = "user"
    """The person, in the conversation or by hand."""
    IMPORT = "import"
    """A file of memories that the person brought along."""
    ASSISTANT = "assistant"
    """The assistant's own words."""
    TOOL = "tool"
    """What a tool gave back."""
    DOCUMENT = "document"
    """Pages, mails, files: anybody may have written them."""


class Act(StrEnum):
    """What a text may do to memory."""

    STATE = "state"
    """Become a fact, an event or knowledge."""
    PREFER = "prefer"
    """Become a preference, or enter the profile that every conversation sees."""
    INSTRUCT = "instruct"
    """Become a constraint or a procedure: it steers later answers."""
    OVERRULE_USER = "overrule_user"
    """Update, supersede or delete what the user said."""


_MAY: Final[Mapping[TrustTier, frozenset[Act]]] = MappingProxyType(
    {
        TrustTier.USER: frozenset(Act),
        TrustTier.IMPORT: frozenset({Act.STATE, Act.PREFER, Act.INSTRUCT}),
        TrustTier.ASSISTANT: frozenset({Act.STATE, Act.PREFER}),
        TrustTier.TOOL: frozenset({Act.STATE}),
        TrustTier.DOCUMENT: frozenset({Act.STATE}),
    }
)
_ACT_OF_TYPE: Final[Mapping[MemoryType, Act]] = MappingProxyType(
    {
        MemoryType.PREFERENCE: Act.PREFER,
        MemoryType.CONSTRAINT: Act.INSTRUCT,
        MemoryType.PROCEDURAL: Act.INSTRUCT,
    }
)
_TIERS: Final[Mapping[Role, TrustTier]] = MappingProxyType(
    {Role.USER: TrustTier.USER, Role.ASSISTANT: TrustTier.ASSISTANT, Role.TOOL: TrustTier.TOOL}
)
_RANK: Final = MappingProxyType({tier: rank for rank, tier in enumerate(TrustTier)})


def may(tier: TrustTier, act: Act) -> bool:
    """Whether the word of this tier is enough for the act."""
    return act in _MAY[tier]


def may_create(tier: TrustTier, memory_type: MemoryType) -> bool:
    """Whether something of this tier may become a memory of this type about the user."""
    return may(tier, _ACT_OF_TYPE.get(memory_type, Act.STATE))


def may_change(tier: TrustTier, of: TrustTier) -> bool:
    """Whether something of this tier may update, supersede or delete a memory that rests on the word of tier `of`."""
    return may(tier, Act.OVERRULE_USER) if of is TrustTier.USER else _RANK[tier] <= _RANK[of]


def tier_named(name: object) -> TrustTier | None:
    """The tier of that name; None where none is given.

    Raises:
        InvalidInputError: there is no such tier.
    """
    if name is not None and (not isinstance(name, str) or name not in set(TrustTier)):
        raise InvalidInputError(f"trust must be one of {', '.join(TrustTier)}")
    return None if name is None else TrustTier(name)


def tier_of(role: Role) -> TrustTier | None:
    """The tier of a message by who spoke it; None for system messages, which are never a source of memories."""
    return _TIERS.get(role)


def trust_in(record: MemoryRecord) -> TrustTier:
    """Whose word a memory rests on."""
    if record.trust is not None:
        return TrustTier(record.trust)
    return (tier_of(record.role) if record.role is not None else None) or TrustTier.USER


def instruction_shaped(text: str, *, spoken_by_user: bool = False) -> str | None:
    """Why a text looks like an order to the model, or None if it just says something.

    The reasons are those of `instructions.toml`, such as "override" or "plant", and of `orders.toml`, such as "promote"
    or "disable". `spoken_by_user` is for words from the user's own mouth: how they want to be answered, whom the
    assistant should play and what it should remember is theirs to say, so that only what no honest message holds is
    left, and what would do somebody harm.
    """
    return _shape_of(text, spoken_by_user=spoken_by_user) or harmful_order(text)


def _shape_of(text: str, *, spoken_by_user: bool) -> str | None:
    seen = _plain(text)
    stands = seen.lower().__contains__
    shapes, needed = _shapes(spoken_by_user)
    if needed and not any(map(stands, needed)):
        return None
    for shape in shapes:
        if (not shape.need or any(map(stands, shape.need))) and shape.pattern.search(seen):
            return shape.reason
    return None


@dataclass(frozen=True, slots=True)
class _Shape:
    reason: str
    from_user: bool
    pattern: re.Pattern[str]
    need: tuple[str, ...]
    """One of these stands in whatever the pattern finds."""


@lru_cache(maxsize=2)
def _shapes(spoken_by_user: bool) -> tuple[tuple[_Shape, ...], tuple[str, ...]]:
    """The shapes to look for, and literals of which a text that has one holds one; none where a shape needs none."""
    shapes = tuple(shape for shape in _all_shapes() if shape.from_user or not spoken_by_user)
    needed = dict.fromkeys(literal for shape in shapes for literal in shape.need)
    return shapes, tuple(needed) if all(shape.need for shape in shapes) else ()


@lru_cache(maxsize=1)
def _all_shapes() -> tuple[_Shape, ...]:
    data = tomllib.loads((files("ebbing.privacy") / "instructions.toml").read_text("utf-8"))
    flags = re.VERBOSE | re.IGNORECASE | re.ASCII
    return tuple(
        _Shape(entry["reason"], entry["from_user"], re.compile(entry["pattern"], flags), tuple(entry.get("need", ())))
        for entry in data["shape"]
    )


_BLANKS: Final = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
"""White space that is not just one space."""
_LINES: Final = re.compile(r"[\r\n\u2028\u2029\x0b\x0c]+[^\S\n]*")


def _plain(text: str) -> str:
    """Width, invisible characters, quotes and white space as the patterns expect them; line ends stay."""
    if len(text) > MAX_JUDGED:
        text = f"{text[: MAX_JUDGED // 2]}\n{text[-MAX_JUDGED // 2 :]}"
    if not text.isascii():
        text = INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))
    if "  " not in text and text.isprintable():
        return text  # the only white space in it is single spaces
    return _LINES.sub("\n", _BLANKS.sub(" ", text))
