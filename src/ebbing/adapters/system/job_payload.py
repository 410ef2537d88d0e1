"""What the queues of jobs share: how a job is described, and what it carries, as JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import NewJob


class DescribedJobs(ABC):
    """The part of a `JobQueue` that makes a job of its description."""

    async def enqueue(
        self,
        kind: str,
        key: str,
        *,
        payload: Mapping[str, Any] | None = None,
        run_at: datetime | None = None,
        max_attempts: int = 5,
        belongs_to: Scope | None = None,
    ) -> int:
        return await self._enqueue(NewJob(kind, key, payload, run_at, max_attempts, belongs_to))

    @abstractmethod
    async def _enqueue(self, job: NewJob) -> int:
        """Add a job and return its id; while one of the same name is waiting, return that one's instead."""


def payload_text(payload: Mapping[str, Any] | None) -> str:
    """The payload as JSON text.

    Raises:
        InvalidInputError: it holds something else.
    """
    try:
        return json.dumps(dict(payload or {}), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError("a job's payload must be JSON") from error
