"""Facts compared with what is known: candidates, decisions, changes."""
