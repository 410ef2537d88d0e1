"""The fields of filters: their names, their values, and how they are read from a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role

METADATA: Final = "metadata."
"""What the name of a metadata field begins with."""


class Op(StrEnum):
    """The operators of filters; `PRESENT` is written as the bare value `*`."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    NIN = "nin"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    ICONTAINS = "icontains"
    PRESENT = "*"


_EQUALITY: Final = (Op.EQ, Op.NE, Op.IN, Op.NIN)
_ORDER: Final = (Op.GT, Op.GTE, Op.LT, Op.LTE)
_PARTS: Final = (Op.CONTAINS, Op.ICONTAINS)


class Sort(StrEnum):
    """The type of a field's values."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    MOMENT = "moment"
    LIST = "list"
    JSON = "json"


OPERATORS: Final[Mapping[Sort, tuple[Op, ...]]] = {
    Sort.TEXT: (*_EQUALITY, *_PARTS),
    Sort.CHOICE: _EQUALITY,
    Sort.NUMBER: (*_EQUALITY, *_ORDER),
    Sort.MOMENT: (*_EQUALITY, *_ORDER),
    Sort.LIST: (*_EQUALITY, *_PARTS),
    Sort.JSON: (*_EQUALITY, *_ORDER, *_PARTS),
}
"""The operators that each sort of field takes, beside the bare `*`."""


@dataclass(frozen=True, slots=True)
class Field:
    """Something that a filter can ask about. The name of a metadata field is `metadata.` and its path."""

    name: str
    sort: Sort
    choices: tuple[str, ...] = ()
    """All values there are, where they are few."""


def _choices(name: str, values: type[StrEnum]) -> Field:
    return Field(name, Sort.CHOICE, tuple(value.value for value in values))


_FIELDS: Final = (
    *(Field(name, Sort.TEXT) for name in ("id", "user_id", "agent_id", "run_id", "actor_id")),
    *(Field(name, Sort.TEXT) for name in ("scope", "language", "memory")),
    *(_choices("kind", Kind), _choices("type", MemoryType), _choices("layer", Layer), _choices("role", Role)),
    *(Field(name, Sort.NUMBER) for name in ("importance", "confidence", "strength", "abstraction_level")),
    *(Field(name, Sort.MOMENT) for name in ("created_at", "updated_at", "valid_from", "valid_to", "expires_at")),
    Field("tags", Sort.LIST),
)
FIELDS: Final[Mapping[str, Field]] = {field.name: field for field in _FIELDS}

ALIASES: Final[Mapping[str, str]] = {
    "memory_ids": "id",
    "actor": "actor_id",
    "content": "memory",
    "text": "memory",
    "keywords": "memory",
    "categories": "tags",
    "timestamp": "created_at",
    "expiration_date": "expires_at",
}
"""Other names of fields, as callers of other memories know them. Each of the names may be in camel case too."""


SHARED_NAMES: Final = frozenset(
    {"id", "tags", "categories", "language", "memory", "content", "text", "keywords", "timestamp", "importance"}
) | frozenset({"actor", "confidence", "strength"})
"""Names of fields that people give to metadata keys of their own as well."""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


_NAMES: Final = {name: FIELDS[name] for name in FIELDS} | {name: FIELDS[of] for name, of in ALIASES.items()}
_BY_NAME: Final = {_camel(name): field for name, field in _NAMES.items()} | _NAMES

_READERS: Final[Mapping[str, Callable[[MemoryRecord], Any]]] = {
    "user_id": attrgetter("belongs_to.user_id"),
    "agent_id": attrgetter("belongs_to.agent_id"),
    "run_id": attrgetter("belongs_to.run_id"),
    "actor_id": attrgetter("actor"),
    "memory": attrgetter("content"),
    "tags": lambda record: record.tags or None,
}


def field_named(name: str) -> Field:
    """Return the field of this name; a name that no field has is that of a metadata key."""
    return _BY_NAME.get(name) or metadata_field(name.removeprefix(METADATA))


def metadata_field(path: str) -> Field:
    """Return the metadata value at a path: a key, or keys joined by dots for what lies deeper."""
    return Field(METADATA + path, Sort.JSON)


def reader(field: Field) -> Callable[[MemoryRecord], Any]:
    """Return what reads the field's value from a record; None stands for "has none"."""
    if field.sort is Sort.JSON:
        path = field.name.removeprefix(METADATA)
        return lambda record: at_path(record.metadata, path)
    return _READERS.get(field.name) or attrgetter(field.name)


def at_path(values: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path, None where there is none.

    A key that holds dots itself wins over keys that lie in each other, at every level.
    """
    if path in values:
        return values[path]
    keys = path.split(".")
    for count in range(len(keys) - 1, 0, -1):
        inner = values.get(".".join(keys[:count]))
        if isinstance(inner, Mapping) and (value := at_path(inner, ".".join(keys[count:]))) is not None:
            return value
    return None
