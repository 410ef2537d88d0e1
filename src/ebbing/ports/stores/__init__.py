"""Stores, and what they hold beside memories."""
