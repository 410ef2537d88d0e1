"""The graph of people and things beside the store, for those who ask it in its own language."""
