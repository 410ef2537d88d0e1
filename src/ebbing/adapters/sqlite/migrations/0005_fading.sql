-- How far a memory has faded, and how slowly it does. NULL: not at all, and as for its importance alone.
ALTER TABLE memory ADD COLUMN stage TEXT;
ALTER TABLE memory ADD COLUMN growth REAL;
ALTER TABLE memory ADD COLUMN packed BLOB;         -- the full text, where `content` is a shortened one
