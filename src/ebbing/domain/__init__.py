"""The rules, on the standard library alone: no input or output, no clock, no randomness."""
