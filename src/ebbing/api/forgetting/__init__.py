"""Erasure, forgetting a topic, change sets and reviews."""
