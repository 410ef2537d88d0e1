"""What narrows an answer: a tree of tests, and what it says of a record. docs/filters.md tells it to callers.

A value of None means that the record has none: only `eq` None, `ne` another value and `nin` other values hold of it.
No record makes an evaluation raise: values that cannot be compared are simply not what was asked for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, Final

from ebbing.domain.filters.fields import Field, Op, reader
from ebbing.domain.filters.timestamps import Span, moment_of
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope

Holds = Callable[[Any], bool]
"""Whether something holds of a value, or of a record."""


@dataclass(frozen=True, slots=True)
class Test:
    """One comparison of one field. Times are `Span`s, the values of `in` and `nin` a tuple."""

    __test__ = False  # not one of pytest's

    field: Field
    op: Op
    value: Any = None
    namesake: Test | None = attribute(default=None, compare=False, repr=False)
    """The same comparison of a metadata key that is called like the field; None where the name is the field's alone."""


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; true without any."""

    parts: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Not one of the parts holds."""

    parts: tuple[Filter, ...]


Filter = Test | All | AnyOf | NoneOf
_IDS: Final = frozenset({"user_id", "agent_id", "run_id"})
_ENDS: Final = frozenset({"valid_to", "expires_at"})
_NEGATIVE: Final = {Op.NE: Op.EQ, Op.NIN: Op.IN}
"""What each comparison denies."""
EVERYTHING: Final = All()
"""The filter that narrows nothing."""


def matches(condition: Filter, record: MemoryRecord) -> bool:
    """Return whether the record is what the filter asks for."""
    return predicate(condition)(record)


def predicate(condition: Filter) -> Holds:
    """`matches` with the filter made ready once, for many records."""
    if isinstance(condition, Test):
        read, holds = reader(condition.field), verdict(condition)
        return lambda record: holds(read(record))
    parts = [predicate(part) for part in condition.parts]
    if isinstance(condition, All):
        return lambda record: all(part(record) for part in parts)
    if isinstance(condition, AnyOf):
        return lambda record: any(part(record) for part in parts)
    return lambda record: not any(part(record) for part in parts)


def excluding_namesakes(condition: Filter, *, negated: bool = False) -> Filter:
    """Return the filter in which what is ruled out of a field is ruled out of a metadata key of its name as well."""
    if isinstance(condition, Test):
        rules_out = (condition.op in _NEGATIVE) is not negated or _asks_for_none(condition)
        return _with_namesake(condition) if rules_out else condition
    inner = negated is not isinstance(condition, NoneOf)
    return type(condition)(tuple(excluding_namesakes(part, negated=inner) for part in condition.parts))


def including_namesakes(condition: Filter) -> Filter | None:
    """Return the filter that metadata keys with names of fields match as well; None where it compares no such name."""
    widened = _including_namesakes(condition)
    return None if widened == condition else widened


def _including_namesakes(condition: Filter) -> Filter:
    if isinstance(condition, Test):
        return _with_namesake(condition)
    return type(condition)(tuple(map(_including_namesakes, condition.parts)))


def _with_namesake(test: Test) -> Filter:
    """Return what holds of the field or its namesake; that there is no value has to hold of both."""
    if (other := test.namesake) is None:
        return test
    if test.op in _NEGATIVE:
        op = _NEGATIVE[test.op]
        return NoneOf((_with_namesake(replace(test, op=op, namesake=replace(other, op=op))),))
    either = AnyOf((replace(test, namesake=None), other))
    if not _asks_for_none(test):
        return either
    neither = All((Test(test.field, Op.EQ), Test(other.field, Op.EQ)))
    if test.op is Op.EQ:
        return neither
    own, others = (tuple(value for value in values if value is not None) for values in (test.value, other.value))
    return AnyOf((neither, Test(test.field, Op.IN, own), Test(other.field, Op.IN, others)))


def _asks_for_none(test: Test) -> bool:
    if test.op in {Op.IN, Op.NIN}:
        return any(value is None for value in test.value)
    return test.op in {Op.EQ, Op.NE} and test.value is None


def verdict(test: Test) -> Holds:
    """Return whether the test holds of a value of its field."""
    if test.op is Op.PRESENT:
        return lambda value: value is not None
    if test.op in {Op.EQ, Op.NE, Op.IN, Op.NIN}:
        return _equality(test)
    if test.op is Op.CONTAINS:
        return lambda value: _contains(value, test.value)
    if test.op is Op.ICONTAINS:
        inside = folded(test.value)
        return lambda value: _contains(_folded(value), inside)
    return _in_order(test.op, test.value)


def _equality(test: Test) -> Holds:
    requested = test.value if test.op in {Op.IN, Op.NIN} else (test.value,)
    if test.op in {Op.EQ, Op.IN}:
        return lambda value: any(_is(value, item) for item in requested)
    return lambda value: not any(_is(value, item) for item in requested)


def conjuncts(condition: Filter) -> Iterator[Filter]:
    """Return the conditions that must hold together."""
    if isinstance(condition, All):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def named_fields(condition: Filter) -> frozenset[str]:
    """Return the names of the fields that a filter compares."""
    if isinstance(condition, Test):
        return frozenset({condition.field.name})
    return frozenset[str]().union(*map(named_fields, condition.parts))


def asks_for_ends(condition: Filter) -> bool:
    """Return whether a filter compares when memories end, and so decides about those that are over."""
    return condition is not EVERYTHING and not _ENDS.isdisjoint(named_fields(condition))


def demanded_ids(condition: Filter) -> Iterator[tuple[str, str]]:
    """Return the ids that every match carries because the filter says so, as (`user_id`, …) and value."""
    for part in conjuncts(condition):
        if isinstance(part, Test) and part.op is Op.EQ and part.value is not None and part.field.name in _IDS:
            yield part.field.name, part.value.strip() if isinstance(part.value, str) else part.value


def remaining_filter(condition: Filter, scope: Scope) -> Filter:
    """Return what the filter asks for beside the ids that the scope sees to."""
    seen_to = {("user_id", scope.user_id), ("agent_id", scope.agent_id), ("run_id", scope.run_id)}
    parts = tuple(part for part in conjuncts(condition) if not (seen_to & {*demanded_ids(part)}))
    return parts[0] if len(parts) == 1 else All(parts)


def folded(text: str) -> str:
    """Return the text without differences of case and width (full-width forms, ligatures)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_number(value: object) -> bool:
    """Return whether a value is a number, which a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is(value: Any, requested: Any) -> bool:
    """Return whether a value is the requested one; of a list, also one of its elements, unless a list is asked for."""
    if _same(value, requested):
        return True
    is_asked_for = requested is not None and not isinstance(requested, list | tuple)
    return is_asked_for and isinstance(value, list | tuple) and any(_same(item, requested) for item in value)


def _same(value: Any, requested: Any) -> bool:
    """Equality of JSON values, in which 1 is 1.0 but not true."""
    if isinstance(requested, Span):
        moment = _moment(value)
        return moment is not None and requested.first <= moment <= requested.last
    if is_number(value) or isinstance(value, str):
        return type_of(value) is type_of(requested) and bool(value == requested)
    if isinstance(value, list | tuple):
        if not isinstance(requested, list | tuple) or len(value) != len(requested):
            return False
        return all(map(_same, value, requested))
    if isinstance(value, Mapping):
        if not isinstance(requested, Mapping) or value.keys() != requested.keys():
            return False
        return all(_same(item, requested[key]) for key, item in value.items())
    return value is requested


def type_of(value: object) -> type:
    """`float` for every number, `str` for every text, else the value's own class."""
    if is_number(value):
        return float
    return str if isinstance(value, str) else type(value)


def _contains(value: Any, requested: Any) -> bool:
    if isinstance(value, str):
        return isinstance(requested, str) and requested in value
    return isinstance(value, list | tuple) and any(_same(item, requested) for item in value)


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return folded(value)
    return [folded(item) for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else None


def _in_order(op: Op, requested: Any) -> Holds:
    compare: Callable[[Any, Any], bool] = {Op.GT: gt, Op.GTE: ge, Op.LT: lt, Op.LTE: le}[op]
    if isinstance(requested, Span):
        edge = requested.last if op in {Op.GT, Op.LTE} else requested.first
        return lambda value: (moment := _moment(value)) is not None and compare(moment, edge)
    sort = type_of(requested)
    return lambda value: type_of(value) is sort and compare(value, requested)


def _moment(value: Any) -> datetime | None:
    return moment_of(value) if isinstance(value, datetime | str) else None
