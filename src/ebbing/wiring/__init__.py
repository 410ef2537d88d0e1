"""Settings in, parts out: the composition root."""
