"""What carries messages to webhooks, made when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbing.domain.errors import MissingExtraError
from ebbing.ports.webhook_sender import WebhookSender


@dataclass(slots=True)
class SenderSlot:
    """The sender of one memory."""

    private_targets: bool = False
    sender: WebhookSender | None = None
    _made: WebhookSender | None = field(default=None, init=False)

    def get(self) -> WebhookSender:
        """Return the sender; one and the same at every call.

        Raises:
            MissingExtraError: the packages of the extra `server` are not installed.
        """
        if self.sender is not None:
            return self.sender
        if self._made is None:
            try:
                from ebbing.adapters.http.webhook_http import HttpWebhookSender
            except ImportError as error:
                raise MissingExtraError(
                    "webhooks need packages that are not installed: pip install 'ebbing[server]'"
                ) from error
            self._made = HttpWebhookSender(private_targets=self.private_targets)
        return self._made

    async def aclose(self) -> None:
        """Let go of connections, if there ever were any."""
        for sender in (self.sender, self._made):
            if sender is not None:
                await sender.aclose()
