"""Drafts of facts with their evidence."""
