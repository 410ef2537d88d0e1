-- Few records tell others; whoever removes one of those others asks which.
CREATE INDEX memory_telling ON memory (mid) WHERE compression_sources IS NOT NULL;
