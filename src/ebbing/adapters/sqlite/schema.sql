-- The layout of a new file, and the one that the migrations of an older one lead to; a test compares the two.

CREATE TABLE act (
  no INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  target TEXT,
  outcome TEXT NOT NULL
);

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  role TEXT NOT NULL,
  user_id TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) WITHOUT ROWID;

CREATE TABLE feedback (
  mid INTEGER NOT NULL,
  recall TEXT NOT NULL,
  signal TEXT NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT,
  PRIMARY KEY (mid, recall, signal)
) WITHOUT ROWID;

CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL,
  old_memory TEXT,
  new_memory TEXT,
  event TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT,
  is_deleted INTEGER NOT NULL,
  actor_id TEXT,
  role TEXT,
  reason TEXT
);

CREATE TABLE place_of_history (
  path TEXT NOT NULL
);

CREATE TABLE identity (
  tenant TEXT NOT NULL,
  channel TEXT NOT NULL,
  channel_user_id TEXT NOT NULL,
  unified_id TEXT NOT NULL,
  is_primary INTEGER NOT NULL,
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, channel, channel_user_id)
) WITHOUT ROWID;

CREATE TABLE identity_merge (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kept TEXT NOT NULL,
  gone TEXT NOT NULL,
  at INTEGER NOT NULL,
  undone_at INTEGER,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  episodes INTEGER NOT NULL,
  names TEXT NOT NULL
);

CREATE TABLE index_entry (
  mid INTEGER PRIMARY KEY,
  length INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  numbers INTEGER NOT NULL,
  analyzer INTEGER NOT NULL,
  model INTEGER,
  terms BLOB NOT NULL,
  vector BLOB
);

CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  leased_until INTEGER,
  last_error TEXT,
  tenant TEXT NOT NULL DEFAULT 'default',
  user_id TEXT,
  agent_id TEXT,
  run_id TEXT,
  progress TEXT,
  ended_at INTEGER
);

CREATE TABLE mark (
  owner_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner_no, name)
) WITHOUT ROWID;

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
  digest INTEGER NOT NULL,
  importance REAL NOT NULL,
  strength REAL NOT NULL,
  attribute TEXT,
  object TEXT,
  version INTEGER NOT NULL,
  changed INTEGER,
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
  utc_offset_minutes INTEGER
);

CREATE TABLE model (
  no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE, vector_bytes INTEGER
);

CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  mid INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  op TEXT NOT NULL
);

CREATE TABLE outbox_consumer (
  name TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE owner (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  erased_generation INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, kind, name)
);

CREATE TABLE request (
  tenant TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  leased_until INTEGER NOT NULL,
  owner_kind TEXT,
  owner_name TEXT,
  agent_id TEXT,
  run_id TEXT,
  body TEXT,
  status INTEGER,
  answer TEXT,
  PRIMARY KEY (tenant, caller, key)
) WITHOUT ROWID;

CREATE TABLE profile (
  owner_no INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  built_at INTEGER NOT NULL,
  holds_until INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  entries TEXT
);

CREATE TABLE profile_edit (
  owner_no INTEGER NOT NULL,
  slot TEXT NOT NULL,
  section TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  memory_id TEXT, brought_by TEXT,
  PRIMARY KEY (owner_no, slot)
) WITHOUT ROWID;

CREATE TABLE profile_default (
  tenant TEXT PRIMARY KEY,
  entries TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE returned (
  mid INTEGER PRIMARY KEY,
  times INTEGER NOT NULL,
  last_at INTEGER NOT NULL
);

CREATE TABLE source (
  owner_no INTEGER NOT NULL,
  kind TEXT NOT NULL,
  run TEXT NOT NULL,
  source_id TEXT NOT NULL,
  mid INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (owner_no, kind, run, source_id, mid)
) WITHOUT ROWID;

CREATE TABLE tenant_setting (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

CREATE TABLE unscrubbed (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  level INTEGER NOT NULL
);

CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  url TEXT NOT NULL,
  topics TEXT NOT NULL,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT,
  is_active INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX act_of_tenant ON act (tenant, no);

CREATE INDEX history_of_memory ON history (memory_id);

CREATE INDEX identity_of ON identity (tenant, unified_id);

CREATE INDEX identity_merge_of ON identity_merge (tenant, gone);

CREATE INDEX job_due ON job (kind, state, run_at);

CREATE INDEX job_leased ON job (leased_until) WHERE state = 'running';

CREATE INDEX job_named ON job (kind, key);

CREATE INDEX job_of_owner ON job (tenant, user_id, agent_id, run_id);

CREATE UNIQUE INDEX job_waiting ON job (kind, key) WHERE state = 'waiting';

CREATE INDEX memory_by_time ON memory (mid >> 24, created_at);

CREATE INDEX memory_changed ON memory (mid >> 24, changed) WHERE changed IS NOT NULL;

CREATE INDEX memory_telling ON memory (mid) WHERE compression_sources IS NOT NULL;

CREATE INDEX request_begun ON request (begun_at);

CREATE INDEX request_of_owner ON request (tenant, owner_kind, owner_name);

-- What an earlier version staged waits here until the store is opened, which takes it in once.
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
  utc_offset_minutes INTEGER,
  PRIMARY KEY (mid, no)
) WITHOUT ROWID;
