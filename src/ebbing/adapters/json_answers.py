"""The JSON value in what a language model wrote: thoughts, fences, prose around it, small faults and cut ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import json_repair

from ebbing.ports.chat_model import Schema

MAX_READ: Final = 200_000
"""Characters of an answer that are looked at."""
_MAX_REPAIRED: Final = 60_000
_MAX_DEPTH: Final = 64
_MAX_CANDIDATES: Final = 32

_THOUGHTS: Final = re.compile(r"<(?P<end>/)?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object of the form that was asked for."""

    value: dict[str, Any]
    cut: bool = False
    """The text ended inside it, so that its last item may be half."""


def without_thoughts(text: str) -> str:
    """The answer without what a reasoning model thought aloud before it.

    Thoughts that never end take the rest with them. Some chat templates open the thoughts in the prompt, so that the
    answer holds only their end: then all before it goes. Inside JSON the tags are somebody's words.
    """
    text = text[:MAX_READ].strip()
    if text.startswith(("{", "[")):
        return text
    kept: list[str] = []
    at = 0
    thinking = False
    for tag in _THOUGHTS.finditer(text):
        if tag["end"]:
            if not thinking:
                kept.clear()
            thinking, at = False, tag.end()
        elif not thinking:
            if "{" in text[at : tag.start()]:
                break
            kept.append(text[at : tag.start()])
            thinking = True
    if not thinking:
        kept.append(text[at:])
    return "".join(kept).strip()


def found_in(text: str, schema: Schema) -> Found | None:
    """The first JSON object in a text (without thoughts) that fits the schema; None if there is none.

    Whole JSON is taken as it is; what is only nearly JSON is mended. A bare list is taken for the one list that the
    schema requires.
    """
    for value in _values(text):
        fitted = _fitted(value, schema)
        if fitted is not None:
            return Found(fitted)
    begin = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    rest = text[begin : begin + _MAX_REPAIRED] if begin >= 0 else ""
    depth, deepest = _nesting(rest)
    if not rest or deepest > _MAX_DEPTH:
        return None
    fitted = _fitted(_mended(rest), schema)
    return None if fitted is None else Found(fitted, cut=depth > 0)


def _values(text: str) -> Iterator[Any]:
    """Every whole JSON object or list in a text, left to right, none inside another."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MAX_CANDIDATES):
        opening = re.compile(r"[{\[]").search(text, at)
        if opening is None:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.end()
        else:
            yield value


def _mended(text: str) -> Any:
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None


def _nesting(text: str) -> tuple[int, int]:
    """How many brackets are open at the end, and how many were at most; those in strings do not count."""
    depth = deepest = 0
    for piece in re.finditer(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[{\[]|[}\]]', text, re.DOTALL):
        if piece[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif piece[0] in "}]":
            depth = max(depth - 1, 0)
    return depth, deepest


def _fitted(value: Any, schema: Schema) -> dict[str, Any] | None:
    """The value as an object with the schema's required fields, each of the type it names; None if it is not."""
    required = list(schema.get("required", ()))
    if isinstance(value, list) and len(required) == 1:
        value = {required[0]: value}
    if not isinstance(value, dict):
        return None
    properties = schema.get("properties", {})
    fits = all(name in value and _is(value[name], properties.get(name, {})) for name in required)
    return value if fits else None


def _is(value: Any, schema: Schema) -> bool:
    named = schema.get("type")
    names = [named] if isinstance(named, str) else list(named or ())
    if not names:
        return True
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES.get(name, (object,))) for name in names)
