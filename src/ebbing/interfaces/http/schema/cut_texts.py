"""Long texts cut in an answer, for callers that show only their beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import Query

MAX_TEXT: Final = 100_000
MaxText = Annotated[
    int | None, Query(ge=1, le=MAX_TEXT, description="Cut texts after so many characters; `text_length` tells of it.")
]
"""The argument of a route whose answer holds texts."""
_TEXTS: Final = frozenset({"text", "memory", "source_text", "old_memory", "new_memory", "before", "after", "value"})


def with_cut_texts(body: Any, most: int | None) -> Any:
    """Return an answer whose texts have at most so many characters; an object with a cut one has `text_length`."""
    if most is None:
        return body
    if isinstance(body, Mapping):
        made = {name: _cut(name, value, most=most) for name, value in body.items()}
        lengths = [len(body[name]) for name in _TEXTS & body.keys() if _is_long(body[name], most)]
        return {**made, "text_length": max(lengths)} if lengths else made
    if isinstance(body, Sequence) and not isinstance(body, str | bytes):
        return [with_cut_texts(item, most) for item in body]
    return body


def _cut(name: str, value: Any, *, most: int) -> Any:
    if name in _TEXTS and _is_long(value, most):
        return value[:most]
    return with_cut_texts(value, most)


def _is_long(value: object, most: int) -> bool:
    return isinstance(value, str) and len(value) > most
