"""Items under namespaces and keys as records of Ebbing: names, exact values, search texts and filters."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from ebbing.errors import InvalidInputError, TooLargeError

MAX_OWNER_LENGTH: Final = 256
MAX_METADATA_BYTES: Final = 65_000
"""Of the JSON of an item's metadata; Ebbing refuses metadata over 65,536 bytes."""
MAX_TTL_MINUTES: Final = 100 * 365 * 24 * 60
"""A hundred years."""
MAX_SEARCH_TEXT: Final = 4_000
"""Characters of an item that are searched."""
_UNSAFE: Final = re.compile(r"[%/\s\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"%([0-9a-f]+);")


def owner_of(host: str, namespace: Sequence[str]) -> str:
    """Return the `agent_id` that holds a namespace of a host: their names, joined by slashes.

    Raises:
        InvalidInputError: the labels are too long together.
    """
    labels = [_UNSAFE.sub(lambda match: f"%{ord(match[0]):x};", label) for label in namespace]
    owner = "/".join([host, *labels])
    if len(owner) > MAX_OWNER_LENGTH:
        limit = MAX_OWNER_LENGTH - len(host)
        raise InvalidInputError(f"the namespace is longer than {limit} characters: use shorter labels, or fewer")
    return owner


def namespace_of(owner: str) -> tuple[str, ...]:
    """Return the namespace that an `agent_id` holds."""
    _, *labels = owner.split("/")
    return tuple(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), label) for label in labels)


def id_of(tenant: str, owner: str, *, key: str) -> str:
    """Return the id of the record that holds an item: always the same, so that a key is found without a search."""
    named = json.dumps([tenant, owner, key])
    return "item-" + hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as its record holds it."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    text: str | None = None
    """What a search compares; None for an item that is not indexed."""
    ttl_minutes: float | None = None
    expires_at: datetime | None = None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read an item of a record, as `export` or `get` gives it."""
        metadata, expires_at = record["metadata"], record.get("expires_at")
        return cls(
            namespace=namespace_of(record["agent_id"]),
            key=_from_text(metadata["key"]),
            value=_value_of(metadata),
            created_at=datetime.fromisoformat(record["created_at"]),
            updated_at=datetime.fromisoformat(metadata["put_at"]),
            text=record.get("memory", record.get("content")) if metadata["indexed"] else None,
            ttl_minutes=metadata.get("ttl_minutes"),
            expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
        )

    def metadata(self) -> dict[str, Any]:
        """Return what the record holds beside the text that is searched.

        Raises:
            InvalidInputError: the value is no JSON.
            TooLargeError: the value is too large, even when it is compressed.
        """
        text = _to_text(self.value)
        labels: dict[str, Any] = {
            "key": _to_text(self.key),
            "put_at": self.updated_at.isoformat(),
            "indexed": self.text is not None,
        }
        if self.ttl_minutes is not None:
            labels["ttl_minutes"] = self.ttl_minutes
        plain = {**labels, "value": text}
        if _size(plain) <= MAX_METADATA_BYTES:
            return plain
        packed = {**labels, "packed": base64.b85encode(zlib.compress(text.encode())).decode()}
        if _size(packed) > MAX_METADATA_BYTES:
            raise TooLargeError(
                f"the value of an item is larger than {MAX_METADATA_BYTES} bytes, compressed: store it"
                " elsewhere, and put its address here"
            )
        return packed

    def line(self, record_id: str, *, owner: str) -> dict[str, Any]:
        """Return the record for `import_`: pinned and of its own object, so that it neither fades nor is merged."""
        line: dict[str, Any] = {
            "ebbing": 1,
            "id": record_id,
            "agent_id": owner,
            "content": self.text or "(not indexed)",
            "created_at": self.created_at.isoformat(),
            "recorded_at": self.created_at.isoformat(),
            "type": "semantic",
            "layer": "long_term",
            "tags": ["pinned", "item"],
            "object": record_id,
            "method": "raw",
            "metadata": self.metadata(),
        }
        if self.expires_at is not None:
            line["expires_at"] = self.expires_at.isoformat()
        return line

    def is_over(self, now: datetime) -> bool:
        """Return whether its time to live is over."""
        return self.expires_at is not None and self.expires_at <= now


def end_of(ttl_minutes: float | None, now: datetime) -> datetime | None:
    """Return when an item ends that lives so many minutes from now; None for never.

    Raises:
        InvalidInputError: no number above 0, or too large a one.
    """
    if ttl_minutes is None:
        return None
    if not 0 < ttl_minutes <= MAX_TTL_MINUTES:
        raise InvalidInputError(f"ttl must be a number of minutes above 0, at most {MAX_TTL_MINUTES:,}")
    return now + timedelta(minutes=ttl_minutes)


def search_text(parts: Sequence[str]) -> str | None:
    """Return the text that a search compares, within its limit; None where there is none."""
    text = "\n".join(parts).replace("\0", " ").encode("utf-8", "replace").decode()
    return text[:MAX_SEARCH_TEXT].strip() or None


def whole_text(value: object, path: str = "") -> Iterator[str]:
    """Yield every leaf of a value with the name that it stands under: `food: pizza`."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from whole_text(inner, str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from whole_text(inner, path)
    elif value is not None:
        yield f"{path}: {value}" if path else str(value)


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Return whether an item's value passes a filter.

    Raises:
        ValueError: the filter has an operator that stores do not know.
    """
    return all(_compares(value.get(name), condition) for name, condition in (conditions or {}).items())


def _compares(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(str(name).startswith("$") for name in condition):
            return all(_holds(value, operator, operand=operand) for operator, operand in condition.items())
        return isinstance(value, Mapping) and matches(value, condition)
    if isinstance(condition, list | tuple):
        is_same_shape = isinstance(value, list | tuple) and len(value) == len(condition)
        return is_same_shape and all(map(_compares, value, condition))
    return bool(value == condition)


def _holds(value: Any, operator: str, *, operand: Any) -> bool:
    """Compare by an operator; what is no number comes neither before nor after one."""
    if operator in {"$eq", "$ne"}:
        return bool(value == operand) is (operator == "$eq")
    if operator not in {"$gt", "$gte", "$lt", "$lte"}:
        raise ValueError(f"unknown operator {operator!r}: use $eq, $ne, $gt, $gte, $lt or $lte")
    try:
        number, bound = float(value), float(operand)
    except (TypeError, ValueError):
        return False
    if operator in {"$gt", "$gte"}:
        return number > bound or (operator == "$gte" and number == bound)
    return number < bound or (operator == "$lte" and number == bound)


def _value_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    packed = metadata.get("packed")
    text = metadata["value"] if packed is None else zlib.decompress(base64.b85decode(packed)).decode()
    value: dict[str, Any] = json.loads(text)
    return value


def _to_text(value: object) -> str:
    """Return a value as JSON, in its own characters where these are valid Unicode.

    Raises:
        InvalidInputError: it is no JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise InvalidInputError("the value of an item must hold JSON values only") from None
    return text if _is_unicode(text) else json.dumps(value)


def _from_text(text: str) -> str:
    key: str = json.loads(text)
    return key


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(metadata: Mapping[str, Any]) -> int:
    return len(json.dumps(metadata, ensure_ascii=False).encode())


def is_item(record: Mapping[str, Any]) -> bool:
    """Return whether an exported record holds an item that was not deleted."""
    return "deleted_at" not in record and "put_at" in record.get("metadata", {})


def fits_path(namespace: Sequence[str], path: Sequence[str], *, match_type: str) -> bool:
    """Return whether a namespace begins or ends with some labels; `*` stands for any label.

    Raises:
        ValueError: an unknown match type.
    """
    if match_type not in {"prefix", "suffix"}:
        raise ValueError(f"unknown match type {match_type!r}: use prefix or suffix")
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(pattern in {"*", label} for pattern, label in zip(path, labels, strict=True))
