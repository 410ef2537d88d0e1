-- What the service keeps beside the memories: its keys, requests and their answers, webhooks, and who administered what.
CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,     -- SHA-256 of the key in hex; the key itself is nowhere
  tenant TEXT NOT NULL,
  role TEXT NOT NULL,
  user_id TEXT,                    -- NULL for every user of the tenant
  note TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) WITHOUT ROWID;

CREATE TABLE request (
  tenant TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  leased_until INTEGER NOT NULL,
  owner_kind TEXT,                 -- NULL where nobody can tell: it goes when anybody of the tenant is erased
  owner_name TEXT,
  agent_id TEXT,
  run_id TEXT,
  body TEXT,                       -- what is to be done later
  status INTEGER,                  -- NULL until it is answered
  answer TEXT,
  PRIMARY KEY (tenant, caller, key)
) WITHOUT ROWID;
CREATE INDEX request_of_owner ON request (tenant, owner_kind, owner_name);
CREATE INDEX request_begun ON request (begun_at);

CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  url TEXT NOT NULL,
  topics TEXT NOT NULL,            -- JSON
  secret TEXT NOT NULL,            -- what messages are signed with
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name TEXT,
  is_active INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE act (
  no INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  target TEXT,
  outcome TEXT NOT NULL
);
CREATE INDEX act_of_tenant ON act (tenant, no);
