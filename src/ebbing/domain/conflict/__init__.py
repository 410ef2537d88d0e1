"""conflict."""
