"""Vectors of new texts, at once or later."""
