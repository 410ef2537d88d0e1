"""Statements in a form in which they can be compared."""
