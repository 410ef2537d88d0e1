"""The façade by theme: every method checks its words, finds the owner, and hands over to one use case."""
