"""Habits derived from what repeats."""
