"""The routes under `/v1` and those that tell how the service is."""
