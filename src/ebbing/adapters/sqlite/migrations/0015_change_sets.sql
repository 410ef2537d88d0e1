-- What one call, import or round of maintenance wrote about one owner, so that it can be undone as a whole.
CREATE TABLE change_set (
  owner_no INTEGER NOT NULL,
  no INTEGER NOT NULL,                             -- rises within its owner
  id TEXT NOT NULL,
  cause TEXT NOT NULL,
  at INTEGER NOT NULL,
  undoes TEXT,                                     -- id of the change set that it took back
  is_partial INTEGER NOT NULL,                     -- 1 where it took back what became of some memories only
  inserted TEXT NOT NULL,                          -- JSON: ranges of the seqs of its new rows, both ends included
  revised INTEGER NOT NULL,
  erased INTEGER NOT NULL,
  PRIMARY KEY (owner_no, no)
) WITHOUT ROWID;

CREATE INDEX change_set_named ON change_set (id);

-- A row of `memory` as it was before a change set revised it, and of `index_entry` where that changed too.
CREATE TABLE revision (
  mid INTEGER NOT NULL,
  no INTEGER NOT NULL,                             -- change_set.no
  id TEXT NOT NULL,
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
  digest INTEGER NOT NULL,
  importance REAL NOT NULL,
  strength REAL NOT NULL,
  attribute TEXT,
  object TEXT,
  version INTEGER NOT NULL,
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
  tags TEXT,
  related_ids TEXT,
  compression_sources TEXT,
  source_ids TEXT,
  delete_reason TEXT,
  reason TEXT,
  source_text TEXT,
  metadata TEXT,
  content TEXT NOT NULL,
  retired_at INTEGER,
  mentions INTEGER,
  first_said_at INTEGER,
  stage TEXT,
  growth REAL,
  packed BLOB,
  length INTEGER,                                  -- NULL where the index entry stayed as it was
  flags INTEGER,
  numbers INTEGER,
  analyzer INTEGER,
  model INTEGER,
  terms BLOB,
  vector BLOB,
  PRIMARY KEY (mid, no)
) WITHOUT ROWID;
