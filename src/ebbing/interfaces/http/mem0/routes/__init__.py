"""The routes that the clients of mem0 call."""
