"""Prompts for language models: short text files, one a purpose and language, whose first line is their version."""
