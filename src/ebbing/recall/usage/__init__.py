"""Counts of use, and which memories an answer rested on."""
