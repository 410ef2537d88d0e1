"""A layout of a next version that only adds: columns that may be empty, a table, an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from ebbing.adapters.sql.connection.schema import LAYOUTS

revision = LAYOUTS[-1]
down_revision = LAYOUTS[-2]
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add."""
    op.add_column("memory", sa.Column("next_note", sa.Text()))
    op.add_column("owner", sa.Column("next_count", sa.BigInteger(), server_default="0"))
    op.create_table("next_thing", sa.Column("tenant", sa.String(256), primary_key=True))
    op.create_index("next_memory_created", "memory", ["tenant", "owner", "created_at"])
