"""The tables that stay small, or that belong to a tenant or to the whole service: they are not spread."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, FetchedValue, Index, Table

from ebbing.adapters.sql.tables.columns import DIGEST, ID, NAME, SMALL, WHOLE, WORD, Words
from ebbing.adapters.sql.tables.owner_tables import METADATA, edit_columns


def _tenant() -> Column[Any]:
    return Column("tenant", NAME, primary_key=True)


def _given_by_server() -> Column[Any]:
    return Column("no", WHOLE, FetchedValue(), primary_key=True, autoincrement=False)


IDENTITY: Final = Table(
    "identity",
    METADATA,
    _tenant(),
    Column("channel", NAME, primary_key=True),
    Column("channel_user_id", NAME, primary_key=True),
    Column("unified_id", NAME, nullable=False),
    Column("is_primary", SMALL, nullable=False),
    Column("linked_at", WHOLE, nullable=False),
    Index("identity_of", "tenant", "unified_id"),
)

IDENTITY_MERGE: Final = Table(
    "identity_merge",
    METADATA,
    _tenant(),
    _given_by_server(),
    Column("kept", NAME, nullable=False),
    Column("gone", NAME, nullable=False),
    Column("at", WHOLE, nullable=False),
    Column("undone_at", WHOLE),
    *(Column(name, WHOLE, nullable=False) for name in ("first_seq", "last_seq", "memories", "episodes")),
    Column("names", Words(), nullable=False),
    Index("identity_merge_of", "tenant", "gone"),
)

PARKED_EDIT: Final = Table(
    "parked_edit", METADATA, _tenant(), Column("merge", WHOLE, primary_key=True, autoincrement=False), *edit_columns()
)
"""Edits of a profile that gave way in a merge, and come back when it is undone."""

PROFILE_DEFAULT: Final = Table("profile_default", METADATA, _tenant(), Column("entries", Words(), nullable=False))

TENANT_SETTING: Final = Table(
    "tenant_setting",
    METADATA,
    _tenant(),
    Column("name", NAME, primary_key=True),
    Column("value", Words(), nullable=False),
)

ACT: Final = Table(
    "act",
    METADATA,
    _tenant(),
    _given_by_server(),
    Column("at", WHOLE, nullable=False),
    Column("who", Words(), nullable=False),
    Column("what", Words(), nullable=False),
    Column("target", Words()),
    Column("outcome", Words(), nullable=False),
)

REQUEST: Final = Table(
    "request",
    METADATA,
    _tenant(),
    Column("caller", NAME, primary_key=True),
    Column("key", NAME, primary_key=True),
    Column("digest", NAME, nullable=False),
    Column("begun_at", WHOLE, nullable=False),
    Column("leased_until", WHOLE, nullable=False),
    Column("owner_kind", WORD),
    *(Column(name, NAME) for name in ("owner_name", "agent_id", "run_id")),
    Column("body", Words()),
    Column("status", WHOLE),
    Column("answer", Words()),
    Index("request_begun", "begun_at"),
)

WEBHOOK: Final = Table(
    "webhook",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("tenant", NAME, nullable=False),
    *(Column(name, Words(), nullable=False) for name in ("url", "topics", "secret")),
    Column("created_at", WHOLE, nullable=False),
    Column("updated_at", WHOLE, nullable=False),
    Column("name", Words()),
    Column("is_active", SMALL, nullable=False),
)

API_KEY: Final = Table(
    "api_key",
    METADATA,
    Column("digest", NAME, primary_key=True),
    Column("id", NAME, nullable=False, unique=True),
    Column("tenant", NAME, nullable=False),
    Column("role", WORD, nullable=False),
    Column("created_at", WHOLE, nullable=False),
    Column("user_id", NAME),
    Column("note", Words()),
    Column("expires_at", WHOLE),
    Column("revoked_at", WHOLE),
)

JOB: Final = Table(
    "job",
    METADATA,
    Column("id", WHOLE, primary_key=True, autoincrement=True),
    Column("named", DIGEST, nullable=False),
    Column("waiting", DIGEST, unique=True),
    Column("once", DIGEST, unique=True),
    Column("due_at", WHOLE),
    Column("kind", WORD, nullable=False),
    *(Column(name, Words(), nullable=False) for name in ("key", "payload")),
    Column("state", WORD, nullable=False),
    *(Column(name, WHOLE, nullable=False) for name in ("attempts", "max_attempts", "run_at")),
    Column("leased_until", WHOLE),
    Column("last_error", Words()),
    Column("tenant", NAME, nullable=False),
    *(Column(name, NAME) for name in ("user_id", "agent_id", "run_id")),
    Column("progress", Words()),
    Column("ended_at", WHOLE),
    Index("job_named", "named"),
    Index("job_due", "due_at", "id"),
    Index("job_of_user", "tenant", "user_id"),
)
"""`named` stands for kind and key; `waiting` is the same while the job waits, so that of these there is one alone."""

EMBEDDING_MODEL: Final = Table(
    "embedding_model",
    METADATA,
    Column("no", WHOLE, primary_key=True, autoincrement=True),
    Column("name", ID, nullable=False, unique=True),
    Column("vector_bytes", WHOLE),
)

ERASED: Final = Table("erased", METADATA, Column("id", WHOLE, primary_key=True, autoincrement=False))
"""Holds a row while the files of the server may still hold what was erased."""

OUTBOX_FOLLOWER: Final = Table(
    "outbox_follower", METADATA, Column("name", NAME, primary_key=True), Column("place", WHOLE, nullable=False)
)

OUTBOX_STATE: Final = Table(
    "outbox_state", METADATA, Column("name", WORD, primary_key=True), Column("value", WHOLE, nullable=False)
)
"""How many followers there are, and the last place that was given to a change; each row is a lock as well."""

TENANT_TABLES: Final = (IDENTITY, IDENTITY_MERGE, PARKED_EDIT, PROFILE_DEFAULT, TENANT_SETTING, ACT, REQUEST)
