"""What an index outside the store has to follow: changes in order, and who follows them.

It is never changed: a later layout is a migration of its own.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from ebbing.adapters.sql.connection.dialects import number_rows, table_options

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NAME: Final = sa.String(256)
_WORD: Final = sa.String(64)
_WHOLE: Final = sa.BigInteger()
_TABLES: Final = ("outbox", "outbox_follower", "outbox_state")


def upgrade() -> None:
    """Make what is not there yet."""
    db = op.get_bind()
    present = set(sa.inspect(db).get_table_names())
    if "outbox" not in present:  # else a server whose tables are no part of a transaction was stopped in the middle
        op.create_table(
            "outbox",
            sa.Column("tenant", _NAME, nullable=False),
            sa.Column("owner", sa.String(32), nullable=False),
            sa.Column("no", _WHOLE, nullable=False, autoincrement=False),
            sa.Column("place", _WHOLE),
            sa.Column("owner_no", _WHOLE, nullable=False),
            sa.Column("seq", _WHOLE, nullable=False),
            sa.Column("memory_id", _NAME, nullable=False),
            sa.Column("op", _WORD, nullable=False),
            sa.PrimaryKeyConstraint("tenant", "owner", "no"),
            sa.Index("outbox_by_place", "place", "no"),
            **table_options(db),
        )
    if not any(column.get("autoincrement") is True for column in sa.inspect(db).get_columns("outbox")):
        op.execute(number_rows(db, "outbox"))
    if "outbox_follower" not in present:
        op.create_table(
            "outbox_follower",
            sa.Column("name", _NAME, primary_key=True),
            sa.Column("place", _WHOLE, nullable=False),
            **table_options(db),
        )
    if "outbox_state" not in present:
        op.create_table(
            "outbox_state",
            sa.Column("name", _WORD, primary_key=True),
            sa.Column("value", _WHOLE, nullable=False),
            **table_options(db),
        )
    state = sa.table("outbox_state", sa.column("name"), sa.column("value"))
    names = set(db.execute(sa.select(state.c.name)).scalars())
    for name in sorted({"followers", "last_place"} - names):
        op.execute(state.insert().values(name=name, value=0))


def downgrade() -> None:
    """Remove what followers of the store need; their indexes are built again."""
    for table in _TABLES:
        op.drop_table(table)
