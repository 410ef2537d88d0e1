"""The store on a database server: PostgreSQL, MariaDB or MySQL."""

from __future__ import annotations

from ebbing.adapters.sql.store import SqlMemoryStore as SqlMemoryStore
