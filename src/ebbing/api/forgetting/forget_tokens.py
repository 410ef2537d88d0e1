"""Tokens that confirm a request to forget: each stands for exactly what its answer showed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import Kind, MemoryRecord, Role, is_read_from
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.results import ForgetOfferItem

TOKEN_LIFETIME: Final = timedelta(hours=1)
LAST_MESSAGE_AGE: Final = timedelta(minutes=30)
"""How old the message may be that "don't save what I just said" means."""
_NEWEST_RECORDS: Final = 32
"""Records among which the last message and what was read from it are looked for."""
_CALLER: Final = "ebbing.forget"
_UNKNOWN: Final = "this is no answer that could be confirmed, or no longer: ask again what would be forgotten"


@dataclass(frozen=True, slots=True)
class ForgetOffer:
    """What an answer showed, as far as it takes to delete just that."""

    until: datetime
    candidates: dict[str, str]
    """Id to the hash of its content."""
    perhaps: dict[str, str] = field(default_factory=dict)
    turns: list[list[str]] = field(default_factory=list)
    """Of running sessions: agent, run, id of the message, and the hash of its text."""

    def text(self) -> str:
        """Return the offer as JSON."""
        values = {"candidates": self.candidates, "perhaps": self.perhaps, "turns": self.turns}
        return json.dumps({"until": self.until.isoformat(), **values})

    @classmethod
    def of(cls, text: str) -> ForgetOffer:
        """Return the offer that `text` gave."""
        values = json.loads(text)
        return cls(**{**values, "until": datetime.fromisoformat(values["until"])})


class ForgetTokens:
    """Issues tokens for offers, and finds the offer of a token."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def issue(self, offer: ForgetOffer, scope: Scope) -> str:
        """Store an offer, and return the token that confirms it."""
        token, now = self._context.ids.new(), self._context.clock.now()
        request = KeptRequest(
            scope.tenant, _CALLER, token, "", now, now, belongs_to=scope, status=200, answer=offer.text()
        )
        await self._context.store.requests.begin(request)
        return token

    async def load(self, token: object, scope: Scope) -> tuple[KeptRequest, ForgetOffer]:
        """Return the stored request of a token, and its offer.

        Raises:
            InvalidInputError: the token is unknown, expired or of another scope.
        """
        requests = self._context.store.requests
        request = None
        if isinstance(token, str) and token == clean_text(token):
            request = await requests.get(scope.tenant, _CALLER, key=token)
        if request is None or request.answer is None or request.belongs_to != scope:
            raise InvalidInputError(_UNKNOWN)
        offer = ForgetOffer.of(request.answer)
        if offer.until < self._context.clock.now():
            await requests.drop(request)
            raise InvalidInputError(_UNKNOWN)
        return request, offer

    async def offer_last_message(self, scope: Scope) -> ForgetOfferItem | None:
        """Offer to forget the newest stored message of the person, and what was read from it.

        Returns:
            `{"ids", "confirm", "expires_at"}`; None if nothing was stored within the last half hour.
        """
        now = self._context.clock.now()
        page = await self._context.store.page(scope, kinds=(Kind.EPISODE, Kind.MEMORY), limit=_NEWEST_RECORDS)
        recent = [record for record in page.records if record.recorded_at >= now - LAST_MESSAGE_AGE]
        last = next((record for record in recent if record.is_verbatim and record.role is Role.USER), None)
        if last is None:
            return None
        affected = (record for record in recent if record is last or is_read_from(record, last))
        offer = ForgetOffer(now + TOKEN_LIFETIME, content_hashes(affected))
        token = await self.issue(offer, scope)
        return {"ids": [*offer.candidates], "confirm": token, "expires_at": offer.until.isoformat()}


def content_hashes(records: Iterable[MemoryRecord]) -> dict[str, str]:
    """Return the hash of each record's content by its id."""
    return {record.id: record.hash for record in records}
