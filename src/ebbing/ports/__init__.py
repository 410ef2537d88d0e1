"""What the product needs of the world: one small Protocol a file."""
