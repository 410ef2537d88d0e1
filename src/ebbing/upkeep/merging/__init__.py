"""Duplicates merged and long texts summarised."""
