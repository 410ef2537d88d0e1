"""The tables of running conversations. They begin with tenant and owner, as those of memories do."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, Index, Table

from ebbing.adapters.sql.tables.columns import DIGEST, NAME, WHOLE, WORD, Words
from ebbing.adapters.sql.tables.owner_tables import METADATA


def _key() -> list[Column[Any]]:
    names = {"tenant": NAME, "owner": DIGEST, "session": DIGEST}
    return [Column(name, kind, primary_key=True) for name, kind in names.items()]


SESSION: Final = Table(
    "session",
    METADATA,
    *_key(),
    Column("names", Words(), nullable=False),
    Column("used_at", WHOLE, nullable=False),
    Column("tokens", WHOLE, nullable=False),
    Column("last_place", WHOLE, nullable=False),
    Index("session_used", "used_at"),
)
"""`session` is a digest of the names of user, agent and run, which `names` holds as JSON."""

SESSION_TURN: Final = Table(
    "session_turn",
    METADATA,
    *_key(),
    Column("turn", DIGEST, primary_key=True),
    Column("place", WHOLE, nullable=False),
    Column("tokens", WHOLE, nullable=False),
    Column("body", Words(), nullable=False),
)

SESSION_NOTE: Final = Table(
    "session_note",
    METADATA,
    *_key(),
    Column("note", WORD, primary_key=True),
    Column("names", Words(), nullable=False),
    Column("until", WHOLE),
)
"""That a session is off the record, or that turns of it are on their way into the store until they are there."""

SESSION_TABLES: Final = (SESSION, SESSION_TURN, SESSION_NOTE)
