"""Connections, schema, the writer thread and scrubbing of the SQLite file."""
