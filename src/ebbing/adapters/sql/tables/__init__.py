"""The tables, as the statements name them."""
