"""Running conversations in the store's database."""
