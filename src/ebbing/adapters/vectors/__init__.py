"""Indexes of vectors beside the store, one module for each technology."""
