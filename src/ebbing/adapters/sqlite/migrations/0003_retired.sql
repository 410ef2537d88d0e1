-- A memory whose statement another one tells is out of every answer and is kept as its source.
ALTER TABLE memory ADD COLUMN retired_at INTEGER;
ALTER TABLE memory ADD COLUMN mentions INTEGER;        -- NULL for once
ALTER TABLE memory ADD COLUMN first_said_at INTEGER;
