"""Whose memories a mem0 client means, and what else it asks of them: ids stand beside the filters or inside."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.interfaces.http.request_context import Caller, OwnerParams

IDS: Final = ("user_id", "agent_id", "run_id")
MOST_OWNERS: Final = 20
"""Owners that one question may be asked of, by an OR or a list of ids."""
_NAMES: Final = {
    **{name: name for name in (*IDS, "app_id")},
    "userId": "user_id",
    "agentId": "agent_id",
    "runId": "run_id",
    "appId": "app_id",
}
APP_FILTER: Final = "metadata.app_id"
"""How our filters name an application."""
_REACH: Final = 5
"""Levels of AND in which ids are looked for."""
_MOST_TEXT: Final = 8_192


@dataclass(frozen=True, slots=True)
class OwnerQuery:
    """One owner's share of a question."""

    owner: OwnerParams
    filters: dict[str, Any] = field(default_factory=dict)
    """In our own grammar, without the ids."""


def asked_of(caller: Caller, params: Mapping[str, Any], *, filters: Any = None) -> list[OwnerQuery]:
    """Every owner that a body or query means, with what else the filters say.

    An OR of filters that each name an owner, or a list of ids, means several. An id beside the filters stands in the
    place of theirs; in an OR it leaves those that name the same one.

    Raises:
        MissingOwnerError: nobody is named.
        InvalidInputError: unusable filters, others in an OR than beside it, or too many owners.
        ProblemError: `forbidden`, somebody else than the credential's user is named.
    """
    named = owner_of(params)
    checked = _checked(params.get("filters") if filters is None else filters)
    rest = {key: value for key, value in checked.items() if _NAMES.get(key) not in named}
    queries = [_owner_query(caller, alone) for alone in _alternatives({**rest, **named})]
    if not queries and named:
        raise InvalidInputError("the filters name others than the ids beside them: nobody is meant by both")
    if not queries:
        raise MissingOwnerError("say whose memories are meant: user_id, agent_id or run_id, in filters or beside them")
    if len(queries) > MOST_OWNERS:
        raise InvalidInputError(f"these filters mean more than {MOST_OWNERS} owners: ask for fewer at a time")
    return queries


def said_filters(text: str | None) -> dict[str, Any] | None:
    """Filters as a query holds them: JSON, or the Python words that mem0's Python client makes of a dict.

    Raises:
        InvalidInputError: neither. It never counts as "no filters", which would mean everything.
    """
    if text is None:
        return None
    filters = _read(text) if len(text) <= _MOST_TEXT else None
    if not isinstance(filters, dict) or not all(isinstance(key, str) for key in filters):
        raise InvalidInputError("filters in a query must be a JSON object")
    return filters


def owner_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """The ids that a flat body or query names, under our names."""
    owner = {name: params[key] for key, name in _NAMES.items() if params.get(key) is not None}
    return _plain(owner)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _checked(filters: Any) -> dict[str, Any]:
    if filters is None:
        return {}
    if not isinstance(filters, Mapping):
        raise InvalidInputError("filters must be an object")
    return dict(filters)


def _plain(ids: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else str(value) for name, value in ids.items() if value != ""}


def _alternatives(filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The filters once for each owner that they allow, with its ids at the top."""
    flat = _hoisted(filters, _REACH)
    either = [_hoisted(item, _REACH) if isinstance(item, Mapping) else {} for item in _listed(flat.get("OR"))]
    if not either or not all(map(_names_somebody, either)):
        yield from _each(flat)
        return
    base = {key: value for key, value in flat.items() if key != "OR"}
    for item in (alone for part in either for alone in _each(part)):
        for both in _each(base):
            if all(key not in IDS or _meant(item[key]) == _meant(both[key]) for key in item.keys() & both.keys()):
                yield _joined(both, item)


def _joined(base: Mapping[str, Any], alternative: Mapping[str, Any]) -> dict[str, Any]:
    """Filters that ask for what both ask for, whose ids agree."""
    ids = {key: value for key, value in alternative.items() if key in IDS}
    rest = {key: value for key, value in alternative.items() if key not in IDS}
    if rest.keys() & base.keys():
        return {**base, **ids, "AND": [*_listed(base.get("AND")), rest]}
    return {**base, **ids, **rest}


def _meant(value: Any) -> Any:
    return value["eq"] if isinstance(value, Mapping) and set(value) == {"eq"} else value


def _hoisted(filters: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """The same filters with ids at the top that stood inside AND, all by our names."""
    flat = {_NAMES.get(key, key): value for key, value in filters.items() if key != "AND"}
    terms: list[Any] = []
    for part in _listed(filters.get("AND")):
        inner = _hoisted(part, depth - 1) if isinstance(part, Mapping) and depth else {}
        if _names_somebody(inner) and not inner.keys() & flat.keys():
            flat |= inner
        else:
            terms.append(part)
    return {**flat, "AND": terms} if terms else flat


def _each(flat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The filters once for each id of a list of ids."""
    for key, name in _NAMES.items():
        several = flat.get(key)
        if name in IDS and isinstance(several, Mapping) and isinstance(several.get("in"), list) and len(several) == 1:
            for item in several["in"]:
                yield from _each({**flat, key: item})
            return
    yield flat


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _names_somebody(part: Mapping[str, Any]) -> bool:
    return not _NAMES.keys().isdisjoint(part)


def _owner_query(caller: Caller, flat: Mapping[str, Any]) -> OwnerQuery:
    """One owner and the rest of the filters; an id that is no plain name stays a filter."""
    ids: dict[str, str] = {}
    rest: dict[str, Any] = {}
    for key, value in flat.items():
        name = _NAMES.get(key)
        value = _meant(value) if name else value  # noqa: PLW2901
        if name in IDS and isinstance(value, str | int) and not isinstance(value, bool) and value != "*":
            ids[name] = str(value)
        elif name == "app_id":
            rest[APP_FILTER] = value
        else:
            rest[key] = value
    owner = caller.owner_ids(ids.get("user_id"), ids.get("agent_id"), run_id=ids.get("run_id"))
    if not any(owner.values()) and APP_FILTER not in rest:
        raise MissingOwnerError("say whose memories are meant: user_id, agent_id or run_id, in filters or beside them")
    return OwnerQuery(owner, rest)
