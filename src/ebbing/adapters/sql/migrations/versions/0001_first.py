"""The first layout: every table.

It is never changed: a later layout is a migration of its own. What it needs stands here, so that it stays as it is.
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from ebbing.adapters.sql.connection.dialects import number_rows, table_options

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TYPES: Final[dict[str, Any]] = {
    "name": sa.String(256),
    "digest": sa.String(32),
    "word": sa.String(64),
    "whole": sa.BigInteger(),
    "small": sa.SmallInteger(),
    "share": sa.Double(),
    "text": sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"),
    "bytes": sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb"),
}

# A column is its name, its type, and `?` where it may be empty.
_RECORD: Final = """
    id name, kind word, role word?, type word, layer word, agent_id name?, run_id name?, actor text?,
    created_at whole, valid_from whole?, valid_to whole?, expires_at whole?, deleted_at whole?, digest whole,
    importance share, strength share, attribute text?, object text?, version whole, recorded_at whole,
    updated_at whole?, last_accessed_at whole?, access_count whole, confidence share, value text?, polarity small?,
    trust text?, scope text?, language text?, method text?, rule text?, superseded_by text?, is_compressed small?,
    abstraction_level small?, tags text?, related_ids text?, compression_sources text?, source_ids text?,
    delete_reason text?, reason text?, source_text text?, metadata text?, content text, retired_at whole?,
    mentions whole?, first_said_at whole?, stage word?, growth share?, packed bytes?
"""
_EDIT: Final = "slot_key digest, slot text, section word, key text, at whole, memory_id name?, brought_by text?"
_OWNED: Final = "tenant name, owner digest"

# By table: its columns, and those of its primary key.
_TABLES: Final = {
    "owner": (
        (
            f"{_OWNED}, no whole, kind word, name name, generation whole, erased_generation whole, last_seq whole,"
            " last_change whole"
        ),
        "tenant owner",
    ),
    "memory": (f"{_OWNED}, seq whole, {_RECORD}, changed whole?, app_id text?, is_blank small", "tenant owner seq"),
    "index_entry": (
        (
            f"{_OWNED}, seq whole, length whole, flags whole, numbers whole, analyzer whole, model whole?, terms bytes,"
            " vector bytes?"
        ),
        "tenant owner seq",
    ),
    "source": (f"{_OWNED}, digest digest, seq whole, kind word, run name, place whole", "tenant owner digest seq"),
    "history": (
        (
            f"{_OWNED}, memory_id name, no whole, old_memory text?, new_memory text?, event word, created_at whole,"
            " updated_at whole?, is_deleted small, actor_id text?, role word?, reason text?"
        ),
        "tenant owner memory_id no",
    ),
    "returned": (f"{_OWNED}, seq whole, times whole, last_at whole", "tenant owner seq"),
    "feedback": (
        f"{_OWNED}, seq whole, recall_key digest, signal word, recall text, at whole, reason text?",
        "tenant owner seq recall_key signal",
    ),
    "mark": (f"{_OWNED}, name word, value whole?", "tenant owner name"),
    "change_set": (
        (
            f"{_OWNED}, no whole, id word, cause word, at whole, undoes word?, is_partial small, inserted text,"
            " revised whole, erased whole"
        ),
        "tenant owner no",
    ),
    "revision": (
        (
            f"{_OWNED}, seq whole, no whole, {_RECORD}, length whole?, flags whole?, numbers whole?, analyzer whole?,"
            " model whole?, terms bytes?, vector bytes?"
        ),
        "tenant owner seq no",
    ),
    "profile": (
        (
            f"{_OWNED}, revision whole, version whole, generation whole, built_at whole, holds_until whole,"
            " memories whole, entries text?"
        ),
        "tenant owner",
    ),
    "profile_edit": (f"{_OWNED}, {_EDIT}", "tenant owner slot_key"),
    "identity": (
        "tenant name, channel name, channel_user_id name, unified_id name, is_primary small, linked_at whole",
        "tenant channel channel_user_id",
    ),
    "identity_merge": (
        (
            "tenant name, no whole, kept name, gone name, at whole, undone_at whole?, first_seq whole, last_seq whole,"
            " memories whole, episodes whole, names text"
        ),
        "tenant no",
    ),
    "parked_edit": (f"tenant name, merge whole, {_EDIT}", "tenant merge slot_key"),
    "profile_default": ("tenant name, entries text", "tenant"),
    "tenant_setting": ("tenant name, name name, value text", "tenant name"),
    "act": ("tenant name, no whole, at whole, who text, what text, target text?, outcome text", "tenant no"),
    "request": (
        (
            "tenant name, caller name, key name, digest name, begun_at whole, leased_until whole, owner_kind word?,"
            " owner_name name?, agent_id name?, run_id name?, body text?, status whole?, answer text?"
        ),
        "tenant caller key",
    ),
    "webhook": (
        (
            "id name, tenant name, url text, topics text, secret text, created_at whole, updated_at whole, name text?,"
            " is_active small"
        ),
        "id",
    ),
    "api_key": (
        (
            "digest name, id name, tenant name, role word, created_at whole, user_id name?, note text?,"
            " expires_at whole?, revoked_at whole?"
        ),
        "digest",
    ),
    "job": (
        (
            "id whole, named digest, waiting digest?, once digest?, due_at whole?, kind word, key text, payload text,"
            " state word, attempts whole, max_attempts whole, run_at whole, leased_until whole?, last_error text?,"
            " tenant name, user_id name?, agent_id name?, run_id name?, progress text?, ended_at whole?"
        ),
        "id",
    ),
    "embedding_model": ("no whole, name name, vector_bytes whole?", "no"),
    "erased": ("id whole", "id"),
}
_UNIQUE: Final = {"api_key": ("id",), "job": ("waiting", "once"), "embedding_model": ("name",)}
_NUMBERED_BY_SERVER: Final = ("owner", "history", "identity_merge", "act")
_COUNTED: Final = frozenset({"job", "embedding_model"})
_INDEXES: Final = (
    ("memory_named", "memory", "id"),
    ("memory_by_time", "memory", "tenant owner created_at"),
    ("memory_changed", "memory", "tenant owner changed"),
    ("source_of", "source", "tenant owner seq"),
    ("change_set_named", "change_set", "id"),
    ("identity_of", "identity", "tenant unified_id"),
    ("identity_merge_of", "identity_merge", "tenant gone"),
    ("request_begun", "request", "begun_at"),
    ("job_named", "job", "named"),
    ("job_due", "job", "due_at id"),
    ("job_of_user", "job", "tenant user_id"),
)


def upgrade() -> None:
    """Make every table that is not there yet."""
    db = op.get_bind()
    present = set(sa.inspect(db).get_table_names())
    for table, (columns, key) in _TABLES.items():
        if table in present:
            continue  # a server whose tables are no part of a transaction was stopped in the middle
        op.create_table(
            table,
            *(_column(words, counted=table in _COUNTED) for words in columns.split(",")),
            sa.PrimaryKeyConstraint(*key.split()),
            *(sa.UniqueConstraint(name, name=f"{table}_{name}") for name in _UNIQUE.get(table, ())),
            *(sa.Index(name, *words.split()) for name, of, words in _INDEXES if of == table),
            **table_options(db),
        )
    for table in _NUMBERED_BY_SERVER:
        if not any(column.get("autoincrement") is True for column in sa.inspect(db).get_columns(table)):
            op.execute(number_rows(db, table))


def downgrade() -> None:
    """There is nothing before the first layout."""
    for table in _TABLES:
        op.drop_table(table)


def _column(words: str, *, counted: bool) -> sa.Column[Any]:
    name, kind = words.split()
    numbered = counted and name in {"id", "no"}
    return sa.Column(name, _TYPES[kind.rstrip("?")], nullable=kind.endswith("?"), autoincrement=numbered)
