"""A worker in a process of its own, as that of `ebbing serve` is: prints `begun`, then a JSON line with what it did.

Run as `python -m evals.upkeep.child DIRECTORY`. With `--upkeep` it is `ebbing maintain` instead, which times each step,
and with `--decay` it is `Memory.decay` for everybody.
"""

from __future__ import annotations

import json
import sys
import time

from ebbing import Memory
from ebbing.interfaces.http.worker import modest
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.components.process_priority import yield_processor
from evals.speed.population import ConstantEmbedder


def main(path: str, how: str) -> None:
    """Does what is due."""
    if not how.startswith("--"):
        yield_processor()
    settings = modest(load_settings({"path": path}))
    with Memory(components=build(settings, embedder=ConstantEmbedder())) as memory:
        memory.search("warm up", user_id="nobody")
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        began, cpu = time.perf_counter(), time.process_time()
        calls = {"--upkeep": memory.maintenance.run, "--decay": memory.maintenance.apply_forgetting}
        worked = calls[how]() if how in calls else memory.jobs.run_worker(until_idle=True)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    if how == "--upkeep":
        worked["took"] = worked.pop("seconds")
    sys.stdout.write(json.dumps({**worked, "seconds": seconds, "cpu_seconds": cpu_seconds}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[-1])
