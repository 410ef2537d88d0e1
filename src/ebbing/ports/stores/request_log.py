"""What remembers requests, to answer a repeated one as the first and to do one later; and what counts them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ebbing.domain.memory.scope import Scope


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """One request under the name that its caller gave it."""

    tenant: str
    caller: str
    """Whose names these are: the same name of another caller is another request."""
    key: str
    digest: str
    """Of all that makes it the request it is."""
    begun_at: datetime
    leased_until: datetime
    """Whoever answers it does so until then, or has died."""
    belongs_to: Scope | None = None
    """Whose memory it is about, where that is known."""
    body: str | None = None
    """What was asked, if it is to be done later."""
    status: int | None = None
    """None until it is answered."""
    answer: str | None = None


class RequestLog(Protocol):
    """Requests and their answers. They may hold what people said, and go with it: when anything of an owner is erased,
    so is every answer about that owner, every answer of the tenant of which nobody knows whom it is about, and what was
    to be done later about what was erased.

    Raises:
        StoreError: the log could not do it; nothing was changed.
        StoreClosedError: after the store was closed.
    """

    async def begin(self, request: KeptRequest) -> KeptRequest | None:
        """Notes a request that is about to be answered; None if nobody did before.

        Else the one that is there, and nothing changes: unless nobody answered it and its lease has ended by
        `request.begun_at`; then the new one takes its place.
        """
        ...

    async def renew(self, request: KeptRequest, *, until: datetime) -> None:
        """Lengthens the lease of one that is not answered yet."""
        ...

    async def finish(self, request: KeptRequest, *, status: int, answer: str, belongs_to: Scope | None) -> None:
        """Notes the answer and whose memory it was about, and lets go of the body. One that was forgotten meanwhile
        stays forgotten."""
        ...

    async def drop(self, request: KeptRequest) -> None:
        """Forgets a request, so that it may be asked anew."""
        ...

    async def get(self, tenant: str, caller: str, *, key: str) -> KeptRequest | None:
        """The request of this name."""
        ...

    async def to_do(self, *, limit: int = 1_000) -> list[KeptRequest]:
        """What is to be done later, of all tenants, the oldest first."""
        ...

    async def drop_answered(self, *, before: datetime) -> int:
        """Forgets what was begun before a moment and answered; returns how many."""
        ...


class RequestRates(Protocol):
    """How many requests a credential sends: a bucket of tokens for each caller, a minute's worth at most, filled
    steadily. It never raises."""

    async def take(self, tenant: str, caller: str) -> int:
        """Counts a request; 0 if it may pass, else the seconds after which the next may, at least 1."""
        ...

    async def aclose(self) -> None:
        """Lets go of connections, if there are any; idempotent."""
        ...
