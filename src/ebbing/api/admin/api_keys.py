"""Keys of the service."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.access_roles import AccessRole, key_digest, role_named
from ebbing.domain.errors import InvalidInputError, NotFoundError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.key_ring import ApiKey
from ebbing.results import ApiKeyItem, NewApiKey
from ebbing.validation import checked_reason

KEY_PREFIX: Final = "ebb_"
"""What every key begins with, so that a search for leaked secrets finds it."""
_MAX_DAYS: Final = 36_500


class ApiKeysApi:
    """`memory.api_keys`: the keys that open the service for this tenant."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def create(
        self,
        role: str = "write",
        *,
        user_id: str | None = None,
        note: str | None = None,
        expires_in_days: float | None = None,
    ) -> NewApiKey:
        """Make a key of this tenant for the service; what it looks like is told now and never again.

        Args:
            role: `read`, `write` or `admin`.
            user_id: the one user whose memory it opens; without it every user's of the tenant.
            note: what it is for, at most 1,000 characters.
            expires_in_days: for how long it holds; for good unless given.

        Returns:
            `{"id", "key", "tenant", "role", "user_id", "note", "created_at", "expires_at", "revoked_at"}`.

        Raises:
            InvalidInputError: an unknown role, an unusable name or number, or an administrator of one user.
            StoreError: it could not be kept.
        """
        may, user = role_named(role), None if user_id is None else Scope(user_id=user_id).user_id
        if may is AccessRole.ADMIN and user is not None:
            raise InvalidInputError("a key of one user cannot administer the tenant: take role read or write")
        now = self._context.clock.now()
        text = KEY_PREFIX + self._context.ids.secret()
        key = ApiKey(
            id=self._context.ids.new(),
            digest=key_digest(text),
            tenant=self._context.tenant,
            role=may,
            created_at=now,
            user_id=user,
            note=checked_reason(note, "note"),
            expires_at=None if expires_in_days is None else now + _days(expires_in_days),
        )
        await self._context.store.keys.add(key)
        return {"id": key.id, "key": text, **key_item(key)}

    async def list(self) -> list[ApiKeyItem]:
        """Return the keys of this tenant, the newest first, revoked and expired ones too; never what they look like."""
        return [key_item(key) for key in await self._context.store.keys.list(self._context.tenant)]

    async def revoke(self, key_id: str) -> ApiKeyItem:
        """End a key for good, in every process at once; return it.

        Raises:
            NotFoundError: this tenant has no such key.
        """
        now = self._context.clock.now()
        key = await self._context.store.keys.revoke(self._context.tenant, str(key_id), at=now)
        if key is None:
            raise NotFoundError("no key with this id: `ebbing keys list` shows those that there are")
        return key_item(key)


def key_item(key: ApiKey) -> ApiKeyItem:
    """Return a key without what it looks like."""
    return {
        "id": key.id,
        "tenant": key.tenant,
        "role": key.role.word,
        "user_id": key.user_id,
        "note": key.note,
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
    }


def _days(days: object) -> timedelta:
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= _MAX_DAYS:
        raise InvalidInputError(f"expires_in_days must be a number above 0 and up to {_MAX_DAYS}")
    return timedelta(days=days)
