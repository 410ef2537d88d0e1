"""Dates and times of English texts."""
