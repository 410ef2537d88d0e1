"""The log of administrative acts."""

from __future__ import annotations

from ebbing.api.calls.call_context import CallContext
from ebbing.ports.stores.audit_log import Act
from ebbing.results import AuditItem
from ebbing.validation import checked_limit


class AuditApi:
    """`memory.audit`: who administered what in this tenant."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def record(self, action: str, *, actor: str, target: str | None = None, outcome: str = "ok") -> None:
        """Keep an administrative act in the log of this tenant.

        Args:
            action: such as `keys revoke`; no personal data, here and below.
            actor: name of the credential, such as `key:01a1…` or `cli`.
            target: id of what it was done to, where that is no person.
            outcome: an HTTP status, or `ok`.
        """
        now, tenant = self._context.clock.now(), self._context.tenant
        await self._context.store.audit.note(Act(now, tenant, actor, action, target, outcome))

    async def list(self, *, limit: int = 100) -> list[AuditItem]:
        """Return who administered what in this tenant, the newest first.

        Args:
            limit: how many at most, 1 to 1,000.
        """
        page = await self._context.store.audit.list(self._context.tenant, limit=checked_limit(limit))
        return [
            {
                "at": act.at.isoformat(),
                "actor": act.who,
                "action": act.action,
                "target": act.target,
                "outcome": act.outcome,
            }
            for act in page
        ]
