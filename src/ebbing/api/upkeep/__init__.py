"""Maintenance, merging, decay and jobs."""
