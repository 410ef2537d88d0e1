"""Filters as callers write them, in dicts: read into a tree, or refused with the key and what is allowed there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import date
from math import isfinite
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.filters.fields import OPERATORS, SHARED_NAMES, Field, Op, Sort, field_named, metadata_field
from ebbing.domain.filters.timestamps import span_of
from ebbing.domain.filters.tree import EVERYTHING, All, AnyOf, Filter, NoneOf, Test, excluding_namesakes, is_number

MAX_DEPTH: Final = 16
"""How deep AND, OR and NOT may lie in each other."""
MAX_TESTS: Final = 256
MAX_VALUES: Final = 1_000
"""Values of one `in` or `nin`."""
MAX_TEXT_CHARS: Final = 4_000
MAX_KEY_CHARS: Final = 256
MAX_VALUE_DEPTH: Final = 8
"""How deep lists and dicts may lie in a metadata value."""

_LOGIC: Final[Mapping[str, type[All | AnyOf | NoneOf]]] = {"AND": All, "OR": AnyOf, "NOT": NoneOf}
_ORDER: Final = frozenset({Op.GT, Op.GTE, Op.LT, Op.LTE})
_ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def parse_filter(filters: Mapping[str, Any] | None) -> Filter:
    """Return the tree behind a dict; what stands side by side must hold together. None and `{}` are everything.

    Raises:
        InvalidInputError: a key, an operator or a value that the grammar does not know.
        TooLargeError: more than 256 tests, 16 levels, 1,000 values or 4,000 characters.
    """
    return EVERYTHING if filters is None else excluding_namesakes(_Reading().filter(filters, 0))


class _Reading:
    """One filter being read."""

    def __init__(self) -> None:
        self._tests = 0

    def filter(self, expression: object, depth: int) -> Filter:
        if not isinstance(expression, Mapping):
            raise InvalidInputError("filters must be dicts, such as {'type': 'fact', 'mood': {'in': ['calm', 'glad']}}")
        if depth > MAX_DEPTH:
            raise TooLargeError(f"filters: AND, OR and NOT lie in each other more than {MAX_DEPTH} deep")
        parts = [part for key, value in expression.items() for part in self._entry(key, value, depth=depth)]
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _entry(self, key: object, value: object, *, depth: int) -> list[Filter]:
        if key in _LOGIC:
            return [self._joined(str(key), value, depth=depth)]
        if key == "metadata":
            if not isinstance(value, Mapping):
                raise InvalidInputError("filters: metadata takes a dict of its keys, such as {'mood': 'calm'}")
            return [part for inner, operand in value.items() for part in self._tests_of(_metadata(inner), operand)]
        name = _checked_key(key)
        namesake = metadata_field(name) if name in SHARED_NAMES else None
        field = field_named(name)
        if field.sort is Sort.JSON:
            return [*self._tests_of(field, value)]
        try:
            return [*self._tests_of(field, value, namesake=namesake)]
        except TooLargeError:
            raise
        except InvalidInputError as error:
            hint = f"for a metadata key of that name write metadata.{name}"
            raise InvalidInputError(f"{error}; {hint}") from error

    def _joined(self, word: str, value: object, *, depth: int) -> Filter:
        """AND, OR, NOT of a list; AND and NOT of one dict as well."""
        parts = [value] if isinstance(value, Mapping) and word != "OR" else value
        if not isinstance(parts, list | tuple) or not parts:
            raise InvalidInputError(f"filters: {word} takes a list of at least one filter dict")
        return _LOGIC[word](tuple(self.filter(part, depth + 1) for part in parts))

    def _tests_of(self, field: Field, value: object, *, namesake: Field | None = None) -> list[Test]:
        """Return a test for each operator of a dict, else one of equality, presence (`*`) or membership in a list.

        With a namesake each of them carries the same test of that metadata key.
        """
        compared: Mapping[Any, object]
        if isinstance(value, Mapping):
            compared = value
        elif isinstance(value, str) and value == "*":
            compared = {Op.PRESENT: True}
        elif isinstance(value, list | tuple | set | frozenset) and field.sort not in {Sort.LIST, Sort.JSON}:
            compared = {Op.IN: value}
        else:
            compared = {Op.EQ: value}
        if not compared:
            raise InvalidInputError(f"filters: {_shown(field)} has an empty dict; {_allowed(field)}")
        self._tests += len(compared)
        if self._tests > MAX_TESTS:
            raise TooLargeError(f"filters hold more than {MAX_TESTS} comparisons: use `in` for many values of a field")
        written = compared is value
        tests = [_test(field, op, value=operand, written=written) for op, operand in compared.items()]
        if namesake is None:
            return tests
        others = [_test(namesake, op, value=operand, written=written) for op, operand in compared.items()]
        return [replace(test, namesake=other) for test, other in zip(tests, others, strict=True)]


def _test(field: Field, name: object, *, value: object, written: bool) -> Test:
    if written and name not in OPERATORS[field.sort]:
        raise InvalidInputError(f"filters: {_shown(field)} has an unknown operator; {_allowed(field)}")
    op = Op(str(name))
    if op is Op.PRESENT:
        return Test(field, op)
    if op in {Op.IN, Op.NIN}:
        return Test(field, op, tuple(_value(field, item, op=op) for item in _listed(field, value, op=op)))
    return Test(field, op, _value(field, value, op=op))


def _listed(field: Field, value: object, *, op: Op) -> Collection[object]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInputError(f"filters: `{op}` of {_shown(field)} takes a list of values")
    if len(value) > MAX_VALUES:
        raise TooLargeError(f"filters: `{op}` of {_shown(field)} has more than {MAX_VALUES} values")
    return value


def _value(field: Field, value: object, *, op: Op) -> Any:
    """Return the value in the form that the tree compares with."""
    if op is Op.ICONTAINS:
        return _text(field, value)
    if value is not None:
        return _READ[field.sort](field, value, op)
    if op in _ORDER or op is Op.CONTAINS:
        raise InvalidInputError(f"filters: `{op}` of {_shown(field)} needs a value; null is for eq, ne, in and nin")
    return None


def _plain_text(field: Field, value: object) -> str:
    text = _text(field, value)
    return text.strip() if field.name.endswith("_id") else text


def _texts(field: Field, value: object, *, op: Op) -> str | list[str]:
    if isinstance(value, list | tuple) and op is not Op.CONTAINS:
        return [_text(field, item) for item in value]
    return _text(field, value)


def _metadata_value(field: Field, value: object, *, op: Op) -> Any:
    if isinstance(value, date):
        return _time(field, value)
    if op in _ORDER:
        if isinstance(value, str):
            return (span_of(value) if _ISO_DAY.match(value) else None) or _text(field, value)
        return _number(field, value)
    if op is Op.CONTAINS and isinstance(value, list | tuple | Mapping):
        raise InvalidInputError(f"filters: `contains` of {_shown(field)} takes one text, number or truth value")
    return _json(field, value, depth=0)


def _json(field: Field, value: object, *, depth: int) -> Any:
    if depth > MAX_VALUE_DEPTH:
        raise TooLargeError(f"filters: the value of {_shown(field)} lies more than {MAX_VALUE_DEPTH} deep")
    if isinstance(value, str):
        return _text(field, value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and len(value) <= MAX_VALUES:
        return [_json(field, item, depth=depth + 1) for item in value]
    if isinstance(value, Mapping) and len(value) <= MAX_VALUES and all(isinstance(key, str) for key in value):
        return {key: _json(field, item, depth=depth + 1) for key, item in value.items()}
    return _number(field, value)


def _text(field: Field, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"filters: {_shown(field)} is compared with text")
    if len(value) > MAX_TEXT_CHARS:
        raise TooLargeError(f"filters: a text for {_shown(field)} is longer than {MAX_TEXT_CHARS} characters")
    return value


def _number(field: Field, value: object) -> Any:
    if not is_number(value) or (isinstance(value, float) and not isfinite(value)):
        kinds = "JSON values" if field.sort is Sort.JSON else "finite numbers"
        raise InvalidInputError(f"filters: {_shown(field)} is compared with {kinds}; {_allowed(field)}")
    return value


def _time(field: Field, value: object) -> Any:
    span = span_of(value)
    if span is None:
        raise InvalidInputError(
            f"filters: {_shown(field)} is compared with ISO 8601 text, epoch seconds, a date or a datetime"
        )
    return span


def _choice(field: Field, value: object) -> str:
    if value not in field.choices:
        raise InvalidInputError(f"filters: {field.name} is one of {', '.join(field.choices)}")
    return str(value)


def _metadata(key: object) -> Field:
    if key in _LOGIC:
        raise InvalidInputError("filters: AND, OR and NOT stand outside of metadata, around {'metadata': {…}}")
    return metadata_field(_checked_key(key))


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not key.strip():
        raise InvalidInputError("filters: every key must be a non-empty string")
    if len(key) > MAX_KEY_CHARS:
        raise TooLargeError(f"filters: a key is longer than {MAX_KEY_CHARS} characters")
    if key.startswith("$") or key.upper() in _LOGIC:
        raise InvalidInputError(f"filters: unknown key {key[:40]!r}; filters are joined by AND, OR and NOT")
    return key


def _shown(field: Field) -> str:
    return repr(field.name[:40])


def _allowed(field: Field) -> str:
    hint = "; a key that lies deeper is written with dots" if field.sort is Sort.JSON else ""
    return f"allowed are a bare value, '*', and {', '.join(OPERATORS[field.sort])}{hint}"


_READ: Final[Mapping[Sort, Callable[[Field, object, Op], Any]]] = {
    Sort.TEXT: lambda field, value, _: _plain_text(field, value),
    Sort.CHOICE: lambda field, value, _: _choice(field, value),
    Sort.NUMBER: lambda field, value, _: _number(field, value),
    Sort.MOMENT: lambda field, value, _: _time(field, value),
    Sort.LIST: lambda field, value, op: _texts(field, value, op=op),
    Sort.JSON: lambda field, value, op: _metadata_value(field, value, op=op),
}
