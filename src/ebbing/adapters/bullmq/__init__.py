"""The job queue on Redis, as queues of BullMQ."""

from ebbing.adapters.bullmq.job_queue import BullMqJobQueue

__all__ = ["BullMqJobQueue"]
