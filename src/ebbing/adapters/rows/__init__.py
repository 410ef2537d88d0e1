"""What the stores that keep rows, in SQLite and in databases on servers, have in common."""
