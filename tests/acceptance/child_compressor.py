"""Compresses and counts again and again until it is killed: `python child_compressor.py DIRECTORY`.

Prints a line when it begins and one for each owner that is done.
"""

from __future__ import annotations

import sys

from ebbing import Memory
from ebbing.testing.models.embedder import FakeEmbedder


def main(directory: str) -> None:
    with Memory(path=directory, embedder=FakeEmbedder(64)) as memory:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        for owner in range(4):
            for step in (memory.maintenance.merge_duplicates, memory.maintenance.derive_habits):
                step(user_id=f"user {owner}", now="2027-01-01")
            sys.stdout.write(f"{owner}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
