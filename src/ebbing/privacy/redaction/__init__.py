"""Personal data found and redacted."""
