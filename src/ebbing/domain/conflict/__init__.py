"""The comparison of two statements, and the closing of memories."""
