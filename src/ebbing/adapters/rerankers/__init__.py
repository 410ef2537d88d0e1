"""Rerankers: late interaction and endpoints."""
