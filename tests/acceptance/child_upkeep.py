"""A process that does the daily round of everybody until it is killed or done, at a time that it is given.

Run as `python child_upkeep.py DIRECTORY NOW`; prints `begun`, then `done` with what it did.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime

from ebbing import Memory
from ebbing.testing.clock import ManualClock
from ebbing.testing.embedder import FakeEmbedder

EMBEDDER = FakeEmbedder()


def main(directory: str, now: str) -> None:
    with Memory(directory, embedder=EMBEDDER, clock=ManualClock(datetime.fromisoformat(now))) as memory:
        memory.search("warm up", user_id="nobody")
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        began = time.perf_counter()
        steps = memory.upkeep(now=now)["steps"]
        sys.stdout.write("done " + json.dumps({"steps": steps, "seconds": time.perf_counter() - began}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
