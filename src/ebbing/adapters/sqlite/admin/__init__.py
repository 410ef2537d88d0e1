"""Backup, verification, counts and erasure of the SQLite file."""
