"""The tables that grow with the memories. Every key begins with the tenant and the owner, and so does every statement.

`owner` is the digest of who the rows belong to (`Owner.digest`): short, the same on every server, and of one length.
So the tables can be spread over many servers by that column as they stand.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, FetchedValue, Index, MetaData, Table

from ebbing.adapters.sql.tables.columns import BYTES, DIGEST, ID, NAME, SMALL, WHOLE, WORD, Words, record_columns

METADATA: Final = MetaData()
"""Of all tables."""


def _key() -> list[Column[Any]]:
    return [Column("tenant", NAME, primary_key=True), Column("owner", DIGEST, primary_key=True)]


def _number(name: str = "seq") -> Column[Any]:
    return Column(name, WHOLE, primary_key=True, autoincrement=False)


def _given_by_server(*, key: bool = False) -> Column[Any]:
    """A number that rises with every row of the table, whatever owner it is of."""
    return Column("no", WHOLE, FetchedValue(), primary_key=key, autoincrement=False, nullable=False)


OWNER: Final = Table(
    "owner",
    METADATA,
    *_key(),
    _given_by_server(),
    Column("kind", WORD, nullable=False),
    Column("name", NAME, nullable=False),
    Column("generation", WHOLE, nullable=False, default=0),
    Column("erased_generation", WHOLE, nullable=False, default=0),
    Column("last_seq", WHOLE, nullable=False, default=0),
    Column("last_change", WHOLE, nullable=False, default=0),
)

MEMORY: Final = Table(
    "memory",
    METADATA,
    *_key(),
    _number(),
    *record_columns(),
    Column("changed", WHOLE),
    Column("app_id", Words()),
    Column("is_blank", SMALL, nullable=False),
    Index("memory_named", "id"),
    Index("memory_by_time", "tenant", "owner", "created_at"),
    Index("memory_changed", "tenant", "owner", "changed"),
)

ENTRY_COLUMNS: Final = ("length", "flags", "numbers", "analyzer", "model", "terms", "vector")


def _entry_columns(*, nullable: bool) -> list[Column[Any]]:
    numbers = [Column(name, WHOLE, nullable=nullable) for name in ENTRY_COLUMNS[:4]]
    return [
        *numbers,
        Column("model", WHOLE),
        Column("terms", BYTES, nullable=nullable),
        Column("vector", BYTES),
    ]


INDEX_ENTRY: Final = Table("index_entry", METADATA, *_key(), _number(), *_entry_columns(nullable=False))

SOURCE: Final = Table(
    "source",
    METADATA,
    *_key(),
    Column("digest", DIGEST, primary_key=True),
    _number(),
    Column("kind", WORD, nullable=False),
    Column("run", NAME, nullable=False),
    Column("place", WHOLE, nullable=False),
    Index("source_of", "tenant", "owner", "seq"),
)

HISTORY: Final = Table(
    "history",
    METADATA,
    *_key(),
    Column("memory_id", ID, primary_key=True),
    _given_by_server(key=True),
    Column("old_memory", Words()),
    Column("new_memory", Words()),
    Column("event", WORD, nullable=False),
    Column("created_at", WHOLE, nullable=False),
    Column("updated_at", WHOLE),
    Column("is_deleted", SMALL, nullable=False),
    Column("actor_id", Words()),
    Column("role", WORD),
    Column("reason", Words()),
)

RETURNED: Final = Table(
    "returned",
    METADATA,
    *_key(),
    _number(),
    Column("times", WHOLE, nullable=False),
    Column("last_at", WHOLE, nullable=False),
)

FEEDBACK: Final = Table(
    "feedback",
    METADATA,
    *_key(),
    _number(),
    Column("recall_key", DIGEST, primary_key=True),
    Column("signal", WORD, primary_key=True),
    Column("recall", Words(), nullable=False),
    Column("at", WHOLE, nullable=False),
    Column("reason", Words()),
)

MARK: Final = Table("mark", METADATA, *_key(), Column("name", WORD, primary_key=True), Column("value", WHOLE))

CHANGE_SET: Final = Table(
    "change_set",
    METADATA,
    *_key(),
    _number("no"),
    Column("id", WORD, nullable=False),
    Column("cause", WORD, nullable=False),
    Column("at", WHOLE, nullable=False),
    Column("undoes", WORD),
    Column("is_partial", SMALL, nullable=False),
    Column("inserted", Words(), nullable=False),
    Column("revised", WHOLE, nullable=False),
    Column("erased", WHOLE, nullable=False),
    Index("change_set_named", "id"),
)

REVISION: Final = Table(
    "revision", METADATA, *_key(), _number(), _number("no"), *record_columns(), *_entry_columns(nullable=True)
)

PROFILE: Final = Table(
    "profile",
    METADATA,
    *_key(),
    *(Column(name, WHOLE, nullable=False) for name in ("revision", "version", "generation", "built_at")),
    *(Column(name, WHOLE, nullable=False) for name in ("holds_until", "memories")),
    Column("entries", Words()),
)


def edit_columns() -> list[Column[Any]]:
    """Return new columns for what somebody did to their profile."""
    return [
        Column("slot_key", DIGEST, primary_key=True),
        Column("slot", Words(), nullable=False),
        Column("section", WORD, nullable=False),
        Column("key", Words(), nullable=False),
        Column("at", WHOLE, nullable=False),
        Column("memory_id", ID),
        Column("brought_by", Words()),
    ]


PROFILE_EDIT: Final = Table("profile_edit", METADATA, *_key(), *edit_columns())

OUTBOX: Final = Table(
    "outbox",
    METADATA,
    *_key(),
    _given_by_server(key=True),
    Column("place", WHOLE),
    Column("owner_no", WHOLE, nullable=False),
    Column("seq", WHOLE, nullable=False),
    Column("memory_id", ID, nullable=False),
    Column("op", WORD, nullable=False),
    Index("outbox_by_place", "place", "no"),
)
"""`place` is that in the order of all changes, which a change gets when it is first read."""

OWNER_TABLES: Final = (
    *(OWNER, MEMORY, INDEX_ENTRY, SOURCE, HISTORY, RETURNED, FEEDBACK, MARK, CHANGE_SET, REVISION, PROFILE),
    *(PROFILE_EDIT, OUTBOX),
)
