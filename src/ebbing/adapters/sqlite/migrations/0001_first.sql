-- Every owner's rows lie side by side: mid = owner.no << 24 | seq, so that one owner loads from neighbouring pages.
-- Times are microseconds since 1970 (UTC). NULL stands for a field's default wherever there is one.

CREATE TABLE owner (
  no INTEGER PRIMARY KEY AUTOINCREMENT,            -- never given twice, not even after an erasure
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,           -- rises with every write; tells a cached shard that it is behind
  erased_generation INTEGER NOT NULL DEFAULT 0,    -- shards older than this hold rows that are gone
  last_seq INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, kind, name)
);

-- The truth. What a shard needs stands first, long texts last, so that a load does not follow overflow pages.
CREATE TABLE memory (
  mid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  role TEXT,
  type TEXT NOT NULL,
  layer TEXT NOT NULL,
  agent_id TEXT,
  run_id TEXT,
  actor TEXT,
  created_at INTEGER NOT NULL,
  valid_from INTEGER,
  valid_to INTEGER,
  expires_at INTEGER,
  deleted_at INTEGER,
  digest INTEGER NOT NULL,                         -- of the folded text, to find the same statement again
  importance REAL NOT NULL,
  strength REAL NOT NULL,
  attribute TEXT,                                  -- what it gives the value of, and what it likes: to find conflicts
  object TEXT,
  version INTEGER NOT NULL,
  changed INTEGER,                                 -- owner.generation of the last change; NULL since the insert
  recorded_at INTEGER NOT NULL,
  updated_at INTEGER,
  last_accessed_at INTEGER,
  access_count INTEGER NOT NULL,
  confidence REAL NOT NULL,
  value TEXT,
  polarity INTEGER,
  trust TEXT,
  scope TEXT,
  language TEXT,
  method TEXT,
  rule TEXT,
  superseded_by TEXT,
  is_compressed INTEGER,
  abstraction_level INTEGER,
  tags TEXT,                                       -- JSON, like every list and mapping below
  related_ids TEXT,
  compression_sources TEXT,
  source_ids TEXT,
  delete_reason TEXT,
  reason TEXT,
  source_text TEXT,
  metadata TEXT,
  content TEXT NOT NULL
);

CREATE INDEX memory_by_time ON memory (mid >> 24, created_at);
CREATE INDEX memory_changed ON memory (mid >> 24, changed) WHERE changed IS NOT NULL;

-- Derived: the searchable side of a record. Can be computed again from `memory`.
CREATE TABLE index_entry (
  mid INTEGER PRIMARY KEY,
  length INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  numbers INTEGER NOT NULL,
  analyzer INTEGER NOT NULL,
  model INTEGER,                                   -- model.no of the vector
  terms BLOB NOT NULL,                             -- 11 bytes a term: hash, frequency, fields
  vector BLOB                                      -- half-precision floats, little-endian
);

CREATE TABLE model (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- Source ids of every record, so that the same message is not stored twice and what it led to can be found.
CREATE TABLE source (
  owner_no INTEGER NOT NULL,
  kind TEXT NOT NULL,
  run TEXT NOT NULL,                               -- '' for none
  source_id TEXT NOT NULL,
  mid INTEGER NOT NULL,
  place INTEGER NOT NULL,                          -- among the ids of its record; a repeat is known by the first
  PRIMARY KEY (owner_no, kind, run, source_id, mid)
) WITHOUT ROWID;

-- What external indexes have to follow, kept only while one of them is registered.
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  mid INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  op TEXT NOT NULL                                 -- put | erase
);

CREATE TABLE outbox_consumer (
  name TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,                       -- rises with every claim, and so names the lease
  max_attempts INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  leased_until INTEGER,
  last_error TEXT
);

CREATE UNIQUE INDEX job_waiting ON job (kind, key) WHERE state = 'waiting';
CREATE INDEX job_due ON job (state, run_at);
