"""Filters, their grammar and queries."""
