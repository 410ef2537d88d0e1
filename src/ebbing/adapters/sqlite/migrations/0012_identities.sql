-- Under which names a person comes.
CREATE TABLE identity (
  tenant TEXT NOT NULL,
  channel TEXT NOT NULL,
  channel_user_id TEXT NOT NULL,
  unified_id TEXT NOT NULL,                        -- owner.name of their memories
  is_primary INTEGER NOT NULL,
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, channel, channel_user_id)
) WITHOUT ROWID;

CREATE INDEX identity_of ON identity (tenant, unified_id);

-- Persons made one: the rows from first_seq to last_seq of `kept` had been those of `gone`.
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
  names TEXT NOT NULL                              -- JSON: the names of `gone`, as [channel, name, is_primary]
);

CREATE INDEX identity_merge_of ON identity_merge (tenant, gone);

-- The merges that brought an edit, as in '/3/7'. One that gave way to another of the same slot waits under owner_no = -no.
ALTER TABLE profile_edit ADD COLUMN brought_by TEXT;
