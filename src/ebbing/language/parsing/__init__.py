"""The parsers of messages: sentences, clauses, subjects."""
