"""habits."""
