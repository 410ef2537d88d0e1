"""Settings, and the configurations and names of others."""
