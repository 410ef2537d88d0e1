"""Rendering and explanation of what was recalled."""
