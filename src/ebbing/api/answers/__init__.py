"""Answers of the API, built from records."""
