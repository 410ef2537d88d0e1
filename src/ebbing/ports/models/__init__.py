"""Models that read, compare and write."""
