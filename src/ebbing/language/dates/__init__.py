"""dates."""
