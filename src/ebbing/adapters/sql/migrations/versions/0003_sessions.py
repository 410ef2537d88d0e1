"""The tables of running conversations, which replicas share."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from ebbing.adapters.sql.connection.dialects import table_options

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TEXT: Final = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
_KEY: Final = {"tenant": sa.String(256), "owner": sa.String(32), "session": sa.String(32)}
_WHOLE: Final = dict.fromkeys(("used_at", "tokens", "last_place", "place", "until"), sa.BigInteger())
_TYPES: Final[dict[str, Any]] = {
    **_KEY,
    **_WHOLE,
    "names": _TEXT,
    "body": _TEXT,
    "turn": sa.String(32),
    "note": sa.String(64),
}
_TABLES: Final = {
    "session": ("names used_at tokens last_place", ""),
    "session_turn": ("turn place tokens body", "turn"),
    "session_note": ("note names until", "note"),
}
"""By table: its columns behind the key of a session, and what else is part of the primary key."""


def upgrade() -> None:
    """Make the tables that are not there yet."""
    db = op.get_bind()
    present = set(sa.inspect(db).get_table_names())
    for table, (columns, more_key) in _TABLES.items():
        if table in present:
            continue  # a server whose tables are no part of a transaction was stopped in the middle
        names = [*_KEY, *columns.split()]
        indexes = [sa.Index("session_used", "used_at")] if table == "session" else []
        op.create_table(
            table,
            *(sa.Column(name, _TYPES[name], nullable=name == "until") for name in names),
            sa.PrimaryKeyConstraint(*_KEY, *more_key.split()),
            *indexes,
            **table_options(db),
        )


def downgrade() -> None:
    """Remove them."""
    for table in _TABLES:
        op.drop_table(table)
