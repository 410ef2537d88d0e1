"""Commands that run the service, or connect other programs with it."""
