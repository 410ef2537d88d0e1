"""Settings in, components out: the composition root."""
