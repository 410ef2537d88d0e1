"""Sentences taken apart: subjects, clauses, parentheses."""
