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


def with_narrowing(filters: Mapping[str, Any] | None, params: Mapping[str, Any], *, now: datetime) -> Filters:
    """Return the filters with what `categories`, `metadata`, dates, `keywords` and `show_expired` ask for."""
    tests = [*_tests(params)]
    narrowed = with_expired(filters, now=now) if params.get("show_expired") else dict(filters or {})
    if not tests:
        return narrowed
    inside = narrowed.get("AND")
    return {**narrowed, "AND": [*([inside] if isinstance(inside, Mapping) else inside or []), *tests]}


def chosen(items: Iterable[Item], fields: Sequence[str] | str | None) -> list[Item]:
    """Return the results with the named fields alone, and `id`.

    Raises:
        InvalidInputError: no result has such a field.
    """
    names = words(fields)
    rows = list(items)
    if not names:
        return rows
    available = {name for item in rows for name in item}
    unknown = [name for name in names if rows and name not in available]
    if unknown:
        raise InvalidInputError(f"fields: no result has {unknown[0]!r}; they have {', '.join(sorted(available))}")
    return [{name: value for name, value in item.items() if name in {"id", *names}} for item in rows]


def words(value: Sequence[str] | str | None) -> list[str]:
    """Return the parts of a list, of a JSON list, or of a text with commas."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            raise InvalidInputError("a list in a query must be JSON or separated by commas") from None
    parts = value.split(",") if isinstance(value, str) else value or ()
    return [str(part).strip() for part in parts if str(part).strip()]


def _tests(params: Mapping[str, Any]) -> Iterable[Filters]:
    if categories := words(params.get("categories")):
        yield {"categories": {"in": categories}}
    if params.get("metadata"):
        yield {"metadata": params["metadata"]}
    if params.get("keywords"):
        yield {"memory": {"icontains": params["keywords"]}}
    for name, operator in (("start_date", "gte"), ("end_date", "lte")):
        if params.get(name):
            yield {"created_at": {operator: params[name]}}
