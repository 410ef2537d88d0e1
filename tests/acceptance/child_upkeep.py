"""A process that does the daily round of everybody until it is killed or done, at a time that it is given.

Run as `python child_upkeep.py DIRECTORY NOW WHAT`, where WHAT is `upkeep` or `compress`; prints `begun`, then
`done` with what it did, and what it did when asked once more.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime

from ebbing import Memory
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder

EMBEDDER = FakeEmbedder()


def main(directory: str, now: str, what: str) -> None:
    with Memory(directory, embedder=EMBEDDER, clock=ManualClock(datetime.fromisoformat(now))) as memory:
        memory.search("warm up", user_id="nobody")
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        began = time.perf_counter()
        steps = work(memory, now, what=what)
        seconds = time.perf_counter() - began
        told = {"steps": steps, "seconds": seconds, "again": work(memory, now, what=what)}
        sys.stdout.write("done " + json.dumps(told) + "\n")


def work(memory: Memory, now: str, *, what: str) -> dict[str, dict[str, int]]:
    if what == "upkeep":
        return dict(memory.maintenance.run(now=now)["steps"])
    return {"compress": {"merged": memory.maintenance.merge_duplicates(now=now)["merged"]}}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
