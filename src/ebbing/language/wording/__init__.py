"""Shorter and other wordings of a text."""
