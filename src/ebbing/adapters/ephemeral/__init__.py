"""Everything in RAM: memories, history, jobs and running conversations for as long as the process lives."""

from ebbing.adapters.ephemeral.jobs import EphemeralJobQueue
from ebbing.adapters.ephemeral.store import EphemeralMemoryStore
from ebbing.adapters.ephemeral.working import EphemeralWorkingMemory

__all__ = ["EphemeralJobQueue", "EphemeralMemoryStore", "EphemeralWorkingMemory"]
