"""How two statements stand to each other, and what may be closed."""
