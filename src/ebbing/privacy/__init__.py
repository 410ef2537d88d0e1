"""Keeping secrets out of memory, and memory out of command: redaction, trust, safe quoting."""
