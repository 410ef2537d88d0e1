"""Personal and secret data taken out of a text, before it is stored, sent or logged.

Names of people are never touched: a memory without names is of no use.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self, TypeVar

from ebbing.domain.errors import ConfigurationError
from ebbing.privacy.redaction.detectors import Category as Category
from ebbing.privacy.redaction.find_pii import Finding as Finding
from ebbing.privacy.redaction.find_pii import find
from ebbing.privacy.redaction.fold_text import fold

_Kind = TypeVar("_Kind", bound=StrEnum)


class Action(StrEnum):
    """What becomes of a find."""

    ALLOW = "allow"
    """It stays as it is, and is not reported."""
    MASK = "mask"
    """`[REDACTED_PHONE]` takes its place."""
    HASH = "hash"
    """`[PHONE:kbdmhoac…]` takes its place: the same value under the same key always gives the same letters."""
    DROP = "drop"
    """It goes without a trace in the text."""
    BLOCK = "block"
    """The whole text is refused: nothing of it may be stored or sent."""


MASK_ALL: Final[Mapping[Category, Action]] = MappingProxyType(
    dict.fromkeys(Category, Action.MASK) | {Category.IP_ADDRESS: Action.ALLOW}
)


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """What to do with each category. Left out means: as by default, masked, but IP addresses stay."""

    actions: Mapping[Category, Action] = field(default_factory=lambda: MASK_ALL)
    hash_key: bytes = field(default=b"", repr=False)
    """Secret of the installation, needed by `hash`: without it a digest of a phone number is found by trying all."""

    allowed: frozenset[Category] = field(init=False, repr=False, compare=False)
    """The categories that stay as they are."""

    def __post_init__(self) -> None:
        chosen = {**MASK_ALL, **{_member(Category, key): _member(Action, do) for key, do in self.actions.items()}}
        object.__setattr__(self, "actions", MappingProxyType(chosen))
        object.__setattr__(self, "allowed", frozenset(key for key, do in chosen.items() if do is Action.ALLOW))
        if Action.HASH in chosen.values() and not self.hash_key:
            raise ConfigurationError("the redaction action 'hash' needs a hash_key; set one, or use 'mask'")

    def but(self, **actions: str) -> Self:
        """The same policy with other actions for some categories: `DEFAULT.but(email="allow", password="block")`.

        Raises ConfigurationError for a category or an action that does not exist.
        """
        changed = {_member(Category, name): _member(Action, action) for name, action in actions.items()}
        return replace(self, actions={**self.actions, **changed})


def _member(kind: type[_Kind], name: str) -> _Kind:
    try:
        return kind(name)
    except ValueError:
        names = ", ".join(kind)
        raise ConfigurationError(f"{name!r} is no redaction {kind.__name__.lower()}; use one of {names}") from None


DEFAULT: Final = RedactionPolicy()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text as it may be kept."""

    text: str
    """Without what was found; empty if the text is blocked."""
    findings: tuple[Finding, ...] = ()
    """In the order of the text, never overlapping; what is allowed is not among them."""
    blocked: bool = False


def redact(text: str, policy: RedactionPolicy = DEFAULT) -> Redacted:
    """The text without personal and secret data, what was found where, and whether it may be kept at all.

    Redacting twice changes nothing more. A text without findings comes back as it is.
    """
    detected = find(text, allowed=policy.allowed)
    findings = tuple(item for item in detected if item.category not in policy.allowed) if detected else ()
    if not findings:
        return Redacted(text)
    if any(policy.actions[finding.category] is Action.BLOCK for finding in findings):
        return Redacted("", findings, blocked=True)
    return Redacted(_rewritten(text, findings, policy=policy), findings)


# ── rewriting ────────────────────────────────────────────────────────────────────────────────────────────────────────

_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
"""Digests are written in letters: sixteen digits in a row would look like a card."""


def _rewritten(text: str, findings: tuple[Finding, ...], *, policy: RedactionPolicy) -> str:
    parts: list[str] = []
    at = 0
    for finding in findings:
        parts += (
            text[at : finding.begin],
            _replacement(text[finding.begin : finding.end], finding.category, policy=policy),
        )
        at = finding.end
    return "".join((*parts, text[at:]))


def _replacement(value: str, category: Category, *, policy: RedactionPolicy) -> str:
    action = policy.actions[category]
    if action is Action.DROP:
        return ""
    if action is Action.HASH:
        return f"[{category.upper()}:{_digest(value, policy.hash_key)}]"
    return f"[REDACTED_{category.upper()}]"


def _digest(value: str, key: bytes) -> str:
    """Keyed BLAKE2b of the value's letters and digits: `138 1234-5678` is the number `13812345678`."""
    bare = re.sub(r"[\s()-]+", "", fold(value).text).casefold()
    secret = hashlib.blake2b(key).digest()  # a key of any length
    digest = hashlib.blake2b(bare.encode("utf-8", "surrogatepass"), key=secret, digest_size=8)
    return digest.hexdigest().translate(_LETTERS)
