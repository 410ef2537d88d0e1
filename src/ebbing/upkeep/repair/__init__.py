"""Reindexing and repeated extraction."""
