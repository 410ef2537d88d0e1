-- New records that are durable and wait for a quiet moment, or for the next reader, to be put where they belong.
CREATE TABLE arrival (
  no INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,                              -- JSON: of each record its columns, reason, flags, model and vector
  vectors BLOB,                                    -- half-precision floats of all that have one, in their order
  refused INTEGER                                  -- 1 where it could not be put there: `doctor --verify` says so
);
