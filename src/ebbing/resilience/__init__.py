"""Waiting for others: how long, how often, and when to leave them alone."""
