"""Doors: they translate what comes from outside, delegate, and hold no rules."""
