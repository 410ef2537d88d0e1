-- Every write goes straight to its place. What an earlier version staged waits here until the store is opened, which
-- takes it in once. The table has a new name, so that a process of that version stages nothing any more.
CREATE TABLE staged_write (
  no INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,                              -- JSON: the messages of one call (see `staged_writes.py`)
  vectors BLOB,                                    -- half-precision floats of each that has one, in their order
  refused INTEGER                                  -- 1 where it could not be taken in: `doctor --verify` says so
);
INSERT INTO staged_write SELECT no, tenant, kind, name, at, body, vectors, refused FROM arrival;
DROP TABLE arrival;
-- A number that is used again would let one process take another's note for its own, and delete it undone.
ALTER TABLE unscrubbed RENAME TO unscrubbed_before;
CREATE TABLE unscrubbed (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  level INTEGER NOT NULL
);
INSERT INTO unscrubbed SELECT no, level FROM unscrubbed_before;
DROP TABLE unscrubbed_before;
