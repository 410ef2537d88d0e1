"""The forms of the answers that a model is asked for, as JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from ebbing.ports.models.chat_model import Schema

CATEGORIES: Final = (
    *("identity", "preference", "dislike", "fact", "habit", "plan", "goal", "constraint", "procedure", "event"),
    "emotion",
)
"""Names in `language/packs/categories.toml`: one scale of types, tags and importance for rules and models."""


def _object(title: str, properties: dict[str, Any]) -> Schema:
    """Return an object with exactly these fields: what endpoints call strict."""
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Final = {"type": "string"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}

_FACT: Final = _object(
    "fact",
    {
        "text": _TEXT,
        "category": {"type": "string", "enum": list(CATEGORIES)},
        "message": {"type": "integer"},
        "quote": _TEXT,
        "sure": {"type": "boolean"},
        "attribute": _TEXT_OR_NULL,
        "value": _TEXT_OR_NULL,
    },
)
FACTS: Final = _object("facts", {"facts": {"type": "array", "items": _FACT}})
LOOSE_FACTS: Final[Schema] = {
    "title": "facts",
    "type": "object",
    "properties": {"facts": {"type": "array"}},
    "required": ["facts"],
}
"""For a prompt of the caller's own, which may ask for sentences or for objects of any kind."""
SUMMARY: Final = _object(
    "summary",
    {
        "should_remember": {"type": "boolean"},
        "summary": _TEXT,
        "category": {"type": "string", "enum": list(CATEGORIES)},
        "confidence": {"type": "number"},
    },
)
_DECISION: Final = _object(
    "decision",
    {
        "fact": {"type": "integer"},
        "action": {"type": "string", "enum": ["ADD", "UPDATE", "DELETE", "NONE"]},
        "memory": {"type": ["integer", "null"]},
        "text": _TEXT_OR_NULL,
        "reason": _TEXT,
    },
)
DECISIONS: Final = _object("decisions", {"decisions": {"type": "array", "items": _DECISION}})
LOOSE_DECISIONS: Final[Schema] = {"title": "decisions", "type": "object", "properties": {}, "required": []}
"""For a prompt of the caller's own, whose examples may show mem0's form."""
