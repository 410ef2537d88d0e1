-- Profiles are worked out from the memories; `entries` is NULL where that has to be done again.
CREATE TABLE profile (
  owner_no INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,                       -- rises with every snapshot and every edit
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,                     -- owner.generation that it was made from; -1 where it does not hold
  built_at INTEGER NOT NULL,
  holds_until INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  entries TEXT
);

-- What a person did to an entry by hand: the memory that holds what they set, or NULL where they took it out.
CREATE TABLE profile_edit (
  owner_no INTEGER NOT NULL,
  slot TEXT NOT NULL,
  section TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  memory_id TEXT,
  PRIMARY KEY (owner_no, slot)
) WITHOUT ROWID;

CREATE TABLE profile_default (
  tenant TEXT PRIMARY KEY,
  entries TEXT NOT NULL
) WITHOUT ROWID;
