"""What Alembic runs: the migrations, on the connection that it is given."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table="ebbing_layout", transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
