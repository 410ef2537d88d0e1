"""Profiles, identities and the graph of people."""
