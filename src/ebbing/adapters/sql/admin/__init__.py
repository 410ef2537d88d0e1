"""Erasing, counting and checking."""
