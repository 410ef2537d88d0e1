"""What no implementation can pass: the same bytes, the same arithmetic, and nothing else."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ebbing.ports.models.embedder import Vectors

TOP = 20
"""Answers of every search here, ours and those it is held against (`mem0_worker.py` asks for as many)."""


def timed(call: Callable[[], object]) -> float:
    """Milliseconds that one call takes."""
    began = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - began) / 1e6


class MatrixFloor:
    """Dot product and selection of the best 20 over exactly one user's float32 matrix, in RAM."""

    def __init__(self, matrix: Vectors) -> None:
        self._matrix = matrix

    def search(self, vector: Vectors) -> list[int]:
        """Rows of the best 20, best first."""
        scores = self._matrix @ vector
        if len(scores) <= TOP:
            best = np.arange(len(scores))
        else:
            best = np.argpartition(-scores, TOP - 1)[:TOP]
        return [int(row) for row in best[np.argsort(-scores[best])]]


class CommitFloor:
    """One durable SQLite commit of the same text and vector: WAL, `synchronous = FULL`, no index, no history."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "floor.sqlite", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT, vector BLOB)")

    def add(self, text: str, vector: Vectors) -> None:
        """Commits one row."""
        self._connection.execute("BEGIN IMMEDIATE")
        stored = vector.astype(np.float16).tobytes()
        self._connection.execute("INSERT INTO item (text, vector) VALUES (?, ?)", (text, stored))
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()
