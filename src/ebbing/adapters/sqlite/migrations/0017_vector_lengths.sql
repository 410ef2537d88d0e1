-- All vectors of a model have the same length; one of another length is refused.
ALTER TABLE model ADD COLUMN vector_bytes INTEGER;
UPDATE model SET vector_bytes = (
  SELECT length(vector) FROM index_entry WHERE index_entry.model = model.no AND vector IS NOT NULL
  GROUP BY length(vector) ORDER BY count(*) DESC LIMIT 1
);
