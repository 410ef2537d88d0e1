"""Models that answer from a script."""
