-- How far a step of the upkeep has looked at an owner's rows, so that it need not look at them again.
CREATE TABLE mark (
  owner_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner_no, name)
) WITHOUT ROWID;
