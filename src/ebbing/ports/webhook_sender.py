"""What carries a message to an address of somebody's choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Delivered:
    """How it went."""

    status: int | None
    """What the other side answered (HTTP); None if it could not be reached, or may not be."""
    reason: str = ""
    """Why it could not, as a code: `forbidden_target`, `unreachable`, `timeout`."""
    retry_after_seconds: float | None = None
    """How long the other side asked to be left alone."""

    @property
    def is_accepted(self) -> bool:
        """Whether the other side has it."""
        return self.status is not None and 200 <= self.status < 300


class WebhookSender(Protocol):
    """Sends to addresses that tenants name, and never to where the service itself lives, unless that is allowed."""

    def check(self, url: str) -> None:
        """Refuses an address that can be told to be out of bounds without asking anybody.

        Raises:
            InvalidInputError: no address, one with a password in it, not https, or of this machine or network.
        """
        ...

    async def send(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> Delivered:
        """Posts it once, without following redirects."""
        ...

    async def aclose(self) -> None:
        """Lets go of connections; idempotent."""
        ...
