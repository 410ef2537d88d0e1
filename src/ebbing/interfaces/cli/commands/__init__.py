"""The commands, grouped by what they do."""
