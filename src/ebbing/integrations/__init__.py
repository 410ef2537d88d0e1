"""Doors for agent frameworks: each module needs the framework of its name, and nothing of Ebbing imports it."""
