"""A process that has a memory open, and on demand a reading transaction, until it is told to go on.

Run as `python child_reader.py DIRECTORY USER`; prints what it is at, and takes one command a line: `hold`, `release`.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from ebbing import Memory
from ebbing.testing.models.embedder import FakeEmbedder


def main(directory: str, user: str) -> None:
    file = sqlite3.connect(Path(directory) / "ebbing.db", isolation_level=None)
    with Memory(directory, embedder=FakeEmbedder()) as memory:
        say(len(memory.search("what do I like?", user_id=user)["results"]))
        for command in map(str.strip, sys.stdin):
            if command == "hold":
                file.execute("BEGIN")
                say(file.execute("SELECT count(*) FROM memory").fetchone()[0])
            elif command == "release":
                file.execute("ROLLBACK")
                say(len(memory.search("what do I like?", user_id=user)["results"]))
    file.close()


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
