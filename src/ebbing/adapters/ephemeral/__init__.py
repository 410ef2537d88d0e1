"""Everything in RAM: memories, history and jobs for as long as the process lives."""

from ebbing.adapters.ephemeral.jobs import EphemeralJobQueue
from ebbing.adapters.ephemeral.store import EphemeralMemoryStore

__all__ = ["EphemeralJobQueue", "EphemeralMemoryStore"]
