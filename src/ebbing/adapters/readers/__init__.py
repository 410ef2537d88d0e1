"""Models that judge two short texts together."""
