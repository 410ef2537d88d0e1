"""What a text says, without asking a model."""
