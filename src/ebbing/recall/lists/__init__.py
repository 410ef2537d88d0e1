"""Memories that are listed or found without a question."""
