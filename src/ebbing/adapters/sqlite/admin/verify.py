"""Compares everything in the file that was derived with what it was derived from."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.rows.entry_consistency import agrees
from ebbing.domain.memory.record import content_hash
from ebbing.index.shard import digest, moment
from ebbing.language.text.analyzer import ANALYZER_VERSION
from ebbing.language.text.text_compression import unpack

_COUNTS: Final = {
    "SELECT count(*) FROM memory LEFT JOIN index_entry USING (mid) WHERE deleted_at IS NULL AND retired_at IS NULL"
    " AND length IS NULL": "{} records have no index entry",
    "SELECT count(*) FROM memory WHERE retired_at IS NOT NULL AND superseded_by IS NOT NULL AND superseded_by NOT IN"
    " (SELECT id FROM memory)": "{} memories are told by a memory that is not there",
    "SELECT count(*) FROM index_entry WHERE mid NOT IN (SELECT mid FROM memory)": (
        "{} index entries belong to no record"
    ),
    "SELECT count(*) FROM source WHERE mid NOT IN (SELECT mid FROM memory)": "{} source ids belong to no record",
    "SELECT count(*) FROM source WHERE owner_no <> mid >> 24": "{} source ids point to another owner's record",
    "SELECT count(*) FROM returned WHERE mid NOT IN (SELECT mid FROM memory)": "{} counts of use belong to no record",
    "SELECT count(*) FROM feedback WHERE mid NOT IN (SELECT mid FROM memory)": "{} signals belong to no record",
    "SELECT (SELECT count(*) FROM profile WHERE owner_no NOT IN (SELECT no FROM owner))"
    " + (SELECT count(*) FROM profile_edit WHERE owner_no NOT IN"
    " (SELECT no FROM owner UNION ALL SELECT -no FROM identity_merge))": "{} profile rows belong to no owner",
    "SELECT count(*) FROM history WHERE memory_id NOT IN (SELECT id FROM memory)": (
        "{} history rows belong to no record"
    ),
    "SELECT count(*) FROM memory WHERE kind = 'memory' AND id NOT IN (SELECT memory_id FROM history)": (
        "{} memories have no history"
    ),
    "SELECT count(*) FROM memory WHERE mid >> 24 NOT IN (SELECT no FROM owner)": "{} records belong to no owner",
    "SELECT count(*) FROM memory JOIN owner ON no = mid >> 24 WHERE mid & 16777215 > last_seq": (
        "{} records are numbered beyond their owner's last number"
    ),
    "SELECT count(*) FROM memory JOIN owner ON no = mid >> 24 WHERE changed > generation": (
        "{} records changed later than their owner"
    ),
    "SELECT count(*) FROM owner WHERE erased_generation > generation": "{} owners were erased in the future",
    "SELECT count(*) FROM index_entry WHERE (vector IS NULL) <> (model IS NULL)": (
        "{} index entries have a vector without a model, or the reverse"
    ),
    "SELECT count(*) FROM index_entry WHERE model IS NOT NULL AND model NOT IN (SELECT no FROM model)": (
        "{} vectors name an unknown model"
    ),
    "SELECT count(*) FROM (SELECT model FROM index_entry WHERE vector IS NOT NULL GROUP BY model"
    " HAVING min(length(vector)) <> max(length(vector)))": "{} models have vectors of several sizes",
    "SELECT count(*) FROM staged_write": "{} writes of an earlier version could not be taken in",
    "SELECT count(*) FROM revision WHERE mid NOT IN (SELECT mid FROM memory)": (
        "{} earlier states of records belong to no record"
    ),
    "SELECT count(*) FROM revision LEFT JOIN change_set ON owner_no = mid >> 24 AND change_set.no = revision.no"
    " WHERE owner_no IS NULL": "{} earlier states of records belong to no change set",
    "SELECT count(*) FROM change_set WHERE owner_no NOT IN (SELECT no FROM owner)": (
        "{} change sets belong to no owner"
    ),
    "SELECT count(*) FROM index_entry WHERE analyzer <> :analyzer": (
        "{} index entries were made by another version of the analyser: rebuild the index"
    ),
}
_TEXTS: Final = (
    "SELECT memory.mid, content, packed, actor, created_at, digest, length, flags, numbers, terms FROM memory"
    " LEFT JOIN index_entry ON index_entry.mid = memory.mid AND analyzer = ? ORDER BY memory.mid"
)


def findings(db: Connection) -> list[str]:
    """What does not agree, as sentences without personal text; reads one moment of the file."""
    db.execute("BEGIN")
    try:
        return [*_damage(db), *_contradictions(db), *_stale_entries(db)]
    finally:
        db.execute("ROLLBACK")


def _damage(db: Connection) -> list[str]:
    messages = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
    return [] if messages == ["ok"] else [f"SQLite reports damage: {line}" for line in messages]


def _contradictions(db: Connection) -> Iterator[str]:
    for query, sentence in _COUNTS.items():
        count = db.execute(query, {"analyzer": ANALYZER_VERSION}).fetchone()[0]
        if count:
            yield sentence.format(count)


def _stale_entries(db: Connection) -> Iterator[str]:
    digests = entries = 0
    for _, content, packed, actor, created, stored_digest, *stored in db.execute(_TEXTS, (ANALYZER_VERSION,)):
        digests += stored_digest != digest(content_hash(content))
        if stored[0] is not None:
            entries += not agrees(
                tuple(stored), content=unpack(packed) if packed else content, actor=actor, created_at=moment(created)
            )
    if digests:
        yield f"{digests} records have a digest of another text"
    if entries:
        yield f"{entries} index entries do not say what their records say: rebuild the index"
