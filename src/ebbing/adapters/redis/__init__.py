"""What several replicas share in Redis."""
