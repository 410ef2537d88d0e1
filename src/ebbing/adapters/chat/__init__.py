"""Language models at OpenAI-compatible endpoints."""
