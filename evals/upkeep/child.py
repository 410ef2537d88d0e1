"""A worker in a process of its own, as `ebbing worker --once` is: prints `begun`, then a JSON line with what it did.

Run as `python -m evals.upkeep.child DIRECTORY`. With `--upkeep` it is `ebbing upkeep` instead, which times each step.
"""

from __future__ import annotations

import json
import sys
import time

from ebbing import Memory
from ebbing.interfaces.cli.upkeep import yield_processor
from evals.speed.population import ConstantEmbedder


def main(path: str, *, on_demand: bool) -> None:
    """Does what is due."""
    yield_processor()
    with Memory(path, embedder=ConstantEmbedder()) as memory:
        memory.search("warm up", user_id="nobody")
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        began, cpu = time.perf_counter(), time.process_time()
        worked = memory.upkeep() if on_demand else memory.work(once=True)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    if on_demand:
        worked["took"] = worked.pop("seconds")
    sys.stdout.write(json.dumps({**worked, "seconds": seconds, "cpu_seconds": cpu_seconds}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], on_demand="--upkeep" in sys.argv)
