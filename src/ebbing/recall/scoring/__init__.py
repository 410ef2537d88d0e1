"""Scores of rows: BM25, vectors, rerankers, calibration."""
