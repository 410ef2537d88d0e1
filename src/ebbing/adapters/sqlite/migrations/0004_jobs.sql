-- Whose memory a job is about, so that it is forgotten with the owner, and how far it is.
ALTER TABLE job ADD COLUMN tenant TEXT NOT NULL DEFAULT 'default';
ALTER TABLE job ADD COLUMN user_id TEXT;
ALTER TABLE job ADD COLUMN agent_id TEXT;
ALTER TABLE job ADD COLUMN run_id TEXT;
ALTER TABLE job ADD COLUMN progress TEXT;        -- JSON; NULL for none
ALTER TABLE job ADD COLUMN ended_at INTEGER;     -- when it was done or given up

UPDATE job SET tenant = ifnull(json_extract(payload, '$.tenant'), 'default'),
  user_id = json_extract(payload, '$.user_id'),
  agent_id = json_extract(payload, '$.agent_id'),
  run_id = json_extract(payload, '$.run_id')
  WHERE kind = 'extract';
UPDATE job SET ended_at = run_at WHERE state IN ('done', 'dead');

CREATE INDEX job_named ON job (kind, key);
CREATE INDEX job_of_owner ON job (tenant, user_id, agent_id, run_id);
