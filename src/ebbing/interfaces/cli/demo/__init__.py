"""`ebbing demo`: a bundled conversation is remembered, recalled and partly forgotten."""
