"""Dates and times of Chinese and English texts."""
