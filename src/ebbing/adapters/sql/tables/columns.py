"""The types of the columns: the same in every database, except for what each calls a long text."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Double, LargeBinary, SmallInteger, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS

_MARK: Final = "\U000f0000"
"""A private character that nobody writes: in a stored text it stands before `0` for NUL, before `1` for itself."""


def _stored(_: TypeDecorator[str], value: str | None, *_dialect: Any) -> str | None:
    if value is None or ("\x00" not in value and _MARK not in value):
        return value
    return value.replace(_MARK, f"{_MARK}1").replace("\x00", f"{_MARK}0")


def _read(_: TypeDecorator[str], value: str | None, *_dialect: Any) -> str | None:
    if value is None or _MARK not in value:
        return value
    return value.replace(f"{_MARK}0", "\x00").replace(f"{_MARK}1", _MARK)


class Words(TypeDecorator[str]):
    """A text of any length that holds any character. PostgreSQL knows no NUL, so that has another form there."""

    impl = Text
    cache_ok = True
    process_bind_param = _stored  # type: ignore[assignment]  # a plain function with a better name
    process_result_value = _read  # type: ignore[assignment]

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of a long text."""
        return dialect.type_descriptor(Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"))


NAME: Final = String(256)
"""Of a tenant, a user, an agent, a run, a channel."""
DIGEST: Final = String(32)
"""Stands in a key for a text that may be long."""
WORD: Final = String(64)
ID: Final = String(256)
WHOLE: Final = BigInteger()
SMALL: Final = SmallInteger()
SHARE: Final[Double[float]] = Double()
BYTES: Final = LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")

_TYPES: Final[dict[str, TypeEngine[Any]]] = {
    "id": ID,
    **dict.fromkeys(("kind", "role", "type", "layer", "stage"), WORD),
    **dict.fromkeys(("agent_id", "run_id"), NAME),
    **dict.fromkeys(("created_at", "valid_from", "valid_to", "expires_at", "deleted_at", "digest"), WHOLE),
    **dict.fromkeys(("recorded_at", "updated_at", "last_accessed_at", "retired_at", "first_said_at"), WHOLE),
    **dict.fromkeys(("version", "access_count", "mentions"), WHOLE),
    **dict.fromkeys(("importance", "strength", "confidence", "growth"), SHARE),
    **dict.fromkeys(("polarity", "is_compressed", "abstraction_level", "utc_offset_minutes"), SMALL),
    "packed": BYTES,
}
_ALWAYS_THERE: Final = frozenset(
    {
        *("id", "kind", "type", "layer", "created_at", "digest", "importance", "strength", "version"),
        *("recorded_at", "access_count", "confidence", "content"),
    }
)


def record_columns() -> list[Column[Any]]:
    """Return new columns for the fields of a record, in the order of `RECORD_COLUMNS`."""
    return [Column(name, _TYPES.get(name, Words()), nullable=name not in _ALWAYS_THERE) for name in RECORD_COLUMNS]


def text_digest(text: str) -> str:
    """Return what stands for a text in a key."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
