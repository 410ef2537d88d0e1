"""Records, change sets and searchable rows in the SQLite file."""
