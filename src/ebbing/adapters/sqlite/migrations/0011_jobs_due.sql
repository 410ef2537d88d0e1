-- The next job of a kind is found however many of other kinds wait.
DROP INDEX job_due;
CREATE INDEX job_due ON job (kind, state, run_at);
CREATE INDEX job_leased ON job (leased_until) WHERE state = 'running';
