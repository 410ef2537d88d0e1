"""Running conversations."""
