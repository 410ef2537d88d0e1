"""The JSON value in what a language model wrote: thoughts, fences, prose around it, small faults and cut ends."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

import json_repair

from ebbing.ports.models.chat_model import Schema

MAX_READ: Final = 200_000
"""Characters of an answer that are looked at."""
_MAX_REPAIRED: Final = 60_000
_MAX_DEPTH: Final = 64
_MAX_CANDIDATES: Final = 32

_THOUGHTS: Final = re.compile(r"<(?P<end>/)?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPENING: Final = re.compile(r"[{\[]")
_BEGINS_JSON: Final = re.compile(r"[{\[]\s*(?:[\"'{\[]|\Z)")
_MARK: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
"""A string, so that what stands in it does not count, or a sign that gives a JSON text its shape."""
_CLOSES: Final = {"{": "}", "[": "]"}
_IN_LIST: Final = (["]"], ["}", "]"])
"""The brackets that are open between two items."""
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
class JsonObject:
    """A JSON object of the form that was asked for."""

    value: dict[str, Any]
    cut: bool = False
    """The text ended inside it; of its list only the whole items are left."""


def without_thoughts(text: str) -> str:
    """The answer without what a reasoning model thought aloud before it.

    Thoughts that never end take the rest with them. Some chat templates open the thoughts in the prompt, so that the
    answer holds only their end: then all before it goes. Inside JSON the tags are somebody's words.
    """
    text = text[:MAX_READ].strip()
    if text.startswith(("{", "[")):
        return text
    parts: list[str] = []
    at = 0
    thinking = False
    for tag in _THOUGHTS.finditer(text):
        if tag["end"]:
            if not thinking:
                parts.clear()
            thinking, at = False, tag.end()
        elif not thinking:
            if "{" in text[at : tag.start()]:
                break
            parts.append(text[at : tag.start()])
            thinking = True
    if not thinking:
        parts.append(text[at:])
    return "".join(parts).strip()


def found_in(text: str, schema: Schema) -> JsonObject | None:
    """The first JSON object in a text (without thoughts) that fits the schema; None if there is none.

    Whole JSON is taken as it is; what is only nearly JSON is mended; what was cut off is closed after its last whole
    item. A bare list is taken for the one list that the schema requires.
    """
    whole, broken_at = _values(text)
    for value in whole:
        fitted = _fitted(value, schema) if isinstance(value, dict) else None
        if fitted is not None:
            return JsonObject(fitted)
    if broken_at is not None:
        answer = _mended(text[broken_at : broken_at + _MAX_REPAIRED], schema)
        if answer is not None:
            return answer
    lists = (_fitted(value, schema) for value in whole if isinstance(value, list))
    return next((JsonObject(fitted) for fitted in lists if fitted is not None), None)


def _values(text: str) -> tuple[list[Any], int | None]:
    """Every whole JSON object or list in a text, none inside another, up to where JSON begins that is not whole.

    A bracket that belongs to a sentence ("{details}", "[see above") is passed over.
    """
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = 0
    for _ in range(_MAX_CANDIDATES):
        opening = _OPENING.search(text, at)
        if opening is None:
            break
        try:
            value, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            if _BEGINS_JSON.match(text, opening.start()):
                return values, opening.start()
            at = opening.end()
        else:
            values.append(value)
    return values, None


def _mended(text: str, schema: Schema) -> JsonObject | None:
    """The object in a text that is only nearly JSON, or that was cut off."""
    closed, deepest = _closed(text)
    if deepest > _MAX_DEPTH:
        return None
    cut = closed is not None
    text = text if closed is None else closed
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = json_repair.loads(text, skip_json_loads=True)
        except (ValueError, RecursionError):
            return None
    fitted = _fitted(value, schema)
    return None if fitted is None else JsonObject(fitted, cut=cut)


def _closed(text: str) -> tuple[str | None, int]:
    """The text up to its last whole item and closed there, or None if nothing is open at its end; and how deep its
    brackets go. Items are those of a list that stands alone or directly in the outermost object."""
    stack: list[str] = []
    end, open_there = len(text), ""
    deepest = 0
    for piece in _MARK.finditer(text):
        mark = piece[0]
        if mark in _CLOSES:
            stack.append(_CLOSES[mark])
            deepest = max(deepest, len(stack))
        elif mark in "}]":
            if stack:
                stack.pop()
            if not stack:
                return None, deepest
        if stack in _IN_LIST and mark[0] != '"':
            end, open_there = (piece.start() if mark == "," else piece.end()), "".join(reversed(stack))
    return (text[:end] + open_there if stack else None), deepest


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
