"""The way out."""
