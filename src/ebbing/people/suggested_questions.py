"""What to ask somebody of whom little is known: the most useful first, and nothing that is known."""

from __future__ import annotations

from typing import Final

from ebbing.domain.memory.profile import Origin, Portrait, ProfileEntry
from ebbing.language.text.analyzer import normalise
from ebbing.language.wording.profile_phrases import Question, questions

_OF_OTHERS: Final = frozenset({"family", "pets"})
"""Questions that a statement about somebody else answers."""
_OWN: Final = frozenset({"attribute", "whether", "taste", "rule", "said", "manner"})


def suggest_questions(portrait: Portrait, *, limit: int) -> list[Question]:
    """The first `limit` questions whose answer neither the profile tells nor the person took out of it."""
    entries = [entry for entry in portrait.entries if entry.origin is not Origin.DEFAULT]
    return [question for question in questions() if not _is_known(question, entries, hidden=portrait.hidden)][:limit]


def _is_known(question: Question, entries: list[ProfileEntry], *, hidden: frozenset[str]) -> bool:
    slots = hidden | {entry.slot for entry in entries}
    if any(f"attribute:{name}" in slots for name in question.attributes):
        return True
    if question.about == "allergies" and any(slot.startswith("rule:") for slot in hidden):
        return True
    statements = [normalise(entry.text) for entry in entries if question.about in _OF_OTHERS or _is_own(entry)]
    return any(question.signs.search(text) for text in (*statements, *hidden))


def _is_own(entry: ProfileEntry) -> bool:
    kind, _, name = entry.slot.partition(":")
    return kind in _OWN and not (kind == "attribute" and "." in name and not name.startswith("favourite."))
