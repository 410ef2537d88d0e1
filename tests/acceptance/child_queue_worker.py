"""A worker on the queue in Redis that works until it is killed or nothing is left.

Run as `python child_queue_worker.py LOG ADDRESS`. LOG gets a line when a job is begun, and one when its completion was
acknowledged, each with the number of the attempt.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from datetime import timedelta

from ebbing.adapters.bullmq import BullMqJobQueue
from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.system.machine import SystemClock
from ebbing.ports.job_queue import Job
from ebbing.testing.chance import FixedChance
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.upkeep.worker.worker import JobContext, WorkerDeps, WorkerLimits, run_worker

LEASE = timedelta(seconds=1)
PIECES = 3


class NotingQueue(BullMqJobQueue):
    """A queue that notes which completions it acknowledged."""

    note: Callable[[str], object]

    async def complete(self, job: Job) -> bool:
        is_done = await super().complete(job)
        if is_done:
            self.note(f"done {job.attempts} {job.key}\n")
        return is_done


async def main(log: str, address: str) -> None:
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    queue = NotingQueue(RedisConnection(address, place="test"), clock=SystemClock())
    queue.note = lambda line: os.write(file, line.encode())

    async def work(job: Job, at_work: JobContext) -> None:
        queue.note(f"begun {job.attempts} {job.key}\n")
        for piece in range(at_work.progress.get("pieces", 0), PIECES):
            await asyncio.sleep(0.01)
            at_work.progress["pieces"] = piece + 1
            await at_work.goes_on()

    working = WorkerDeps(queue, SystemClock(), FixedChance(), {"write": work}, pace=WorkerLimits(lease=LEASE))
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    await run_worker(working, stop=Stop(), once=True)
    await queue.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
