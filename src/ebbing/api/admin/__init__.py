"""Administration, API keys and webhooks."""
