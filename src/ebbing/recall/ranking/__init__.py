"""The order of the results: duplicates, newer values, neighbouring turns."""
