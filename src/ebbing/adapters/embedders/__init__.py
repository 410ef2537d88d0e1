"""Embedding models: multilingual-e5-small, a portable one, and endpoints."""
