"""Indexes and mirrors that follow a store."""
