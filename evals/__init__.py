"""Recall quality and speed of Ebbing, measured through its public API. See docs/evals.md."""
