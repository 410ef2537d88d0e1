"""Dates and times of Chinese texts."""
