"""The clock of the one who said something, where a time came with its offset: on it, the day begins and ends.

It is never changed: a later layout is a migration of its own.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES: Final = ("memory", "revision")
_COLUMN: Final = "utc_offset_minutes"


def upgrade() -> None:
    """Add the column where it is not there yet."""
    schema = sa.inspect(op.get_bind())
    for table in _TABLES:
        names = {column["name"] for column in schema.get_columns(table)}
        if _COLUMN not in names:  # else a server whose tables are no part of a transaction was stopped in the middle
            op.add_column(table, sa.Column(_COLUMN, sa.SmallInteger()))


def downgrade() -> None:
    """Remove it."""
    for table in _TABLES:
        op.drop_column(table, _COLUMN)
