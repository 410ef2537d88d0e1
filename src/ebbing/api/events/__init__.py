"""Events: handlers in the process, and webhooks."""
