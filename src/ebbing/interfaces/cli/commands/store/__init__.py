"""Commands about the whole store: its health, its copies, its maintenance."""
