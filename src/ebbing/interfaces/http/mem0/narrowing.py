"""What the arguments beside the filters ask for: written as filters, or applied to the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.validation import with_expired

Filters = dict[str, Any]


def with_narrowing(filters: Mapping[str, Any] | None, given: Mapping[str, Any], *, now: datetime) -> Filters:
    """Return the filters with what `categories`, `metadata`, dates, `keywords` and `show_expired` ask for."""
    tests = [*_tests(given)]
    wanted = with_expired(filters, now=now) if given.get("show_expired") else dict(filters or {})
    if not tests:
        return wanted
    inside = wanted.get("AND")
    return {**wanted, "AND": [*([inside] if isinstance(inside, Mapping) else inside or []), *tests]}


def chosen(items: Iterable[Item], fields: Sequence[str] | str | None) -> list[Item]:
    """Return the results with the named fields alone, and `id`.

    Raises:
        InvalidInputError: no result has such a field.
    """
    names = words(fields)
    found = list(items)
    if not names:
        return found
    known = {name for item in found for name in item}
    unknown = [name for name in names if found and name not in known]
    if unknown:
        raise InvalidInputError(f"fields: no result has {unknown[0]!r}; they have {', '.join(sorted(known))}")
    return [{name: value for name, value in item.items() if name in {"id", *names}} for item in found]


def words(given: Sequence[str] | str | None) -> list[str]:
    """Return the parts of a list, of a JSON list, or of a text with commas."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        try:
            given = json.loads(given)
        except ValueError:
            raise InvalidInputError("a list in a query must be JSON or separated by commas") from None
    parts = given.split(",") if isinstance(given, str) else given or ()
    return [str(part).strip() for part in parts if str(part).strip()]


def _tests(given: Mapping[str, Any]) -> Iterable[Filters]:
    if categories := words(given.get("categories")):
        yield {"categories": {"in": categories}}
    if given.get("metadata"):
        yield {"metadata": given["metadata"]}
    if given.get("keywords"):
        yield {"memory": {"icontains": given["keywords"]}}
    for name, operator in (("start_date", "gte"), ("end_date", "lte")):
        if given.get(name):
            yield {"created_at": {operator: given[name]}}
