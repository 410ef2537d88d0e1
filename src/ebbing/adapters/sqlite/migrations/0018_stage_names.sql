-- The stages of fading have the names of the glossary.
UPDATE memory SET stage = CASE stage
  WHEN 'words' THEN 'keyword_only' WHEN 'short' THEN 'shortened' WHEN 'packed' THEN 'archived' END
WHERE stage IS NOT NULL;
UPDATE revision SET stage = CASE stage
  WHEN 'words' THEN 'keyword_only' WHEN 'short' THEN 'shortened' WHEN 'packed' THEN 'archived' END
WHERE stage IS NOT NULL;
