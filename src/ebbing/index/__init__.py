"""One owner's searchable rows in RAM."""
