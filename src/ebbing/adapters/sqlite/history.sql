-- What happened to each memory, for anybody with sqlite3 to read; in a file of its own when one is configured.
CREATE TABLE IF NOT EXISTS history (
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

CREATE INDEX IF NOT EXISTS history_of_memory ON history (memory_id);
