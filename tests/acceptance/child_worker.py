"""A worker that does jobs until it is killed or nothing is left: each job writes one memory, in several pieces.

Run as `python child_worker.py DIRECTORY`; prints a line when it begins and one for each job that is done.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.domain.memory.record import MemoryRecord, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.chance import FixedChance
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import JobContext, WorkerDeps, WorkerLimits, WorkerStats, run_worker

LEASE = timedelta(seconds=0.3)
PIECES = 3


async def main(directory: str) -> None:
    clock, ids = SystemClock(), TimeOrderedIds()
    store = SqliteMemoryStore.open(directory, clock=clock)

    async def write_down(job: Job, at_work: JobContext) -> None:
        scope = job.belongs_to or Scope("nobody")
        for piece in range(at_work.progress.get("pieces", 0), PIECES):
            source = Provenance(source_ids=(f"{job.key} {piece}",))
            record = MemoryRecord(ids.new(), scope, source.source_ids[0], clock.now(), clock.now(), provenance=source)
            await store.write(scope, [Insert(record, None, once=True)])
            at_work.progress["pieces"] = piece + 1
            await at_work.goes_on()

    def tell(worked: WorkerStats) -> None:
        sys.stdout.write(f"{worked.done}\n")
        sys.stdout.flush()

    working = WorkerDeps(store.jobs, clock, FixedChance(), {"write": write_down}, pace=WorkerLimits(lease=LEASE))
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    await run_worker(working, stop=Stop(), once=True, on_progress=tell)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
