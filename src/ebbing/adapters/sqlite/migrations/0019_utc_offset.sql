-- The clock of the one who said something, where a time came with its offset: on it, the day begins and ends.
ALTER TABLE memory ADD COLUMN utc_offset_minutes INTEGER;
ALTER TABLE revision ADD COLUMN utc_offset_minutes INTEGER;
