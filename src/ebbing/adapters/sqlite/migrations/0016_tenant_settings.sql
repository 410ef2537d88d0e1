-- What a tenant set for all of its memories, such as instructions for a language model; values are JSON.
CREATE TABLE tenant_setting (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
