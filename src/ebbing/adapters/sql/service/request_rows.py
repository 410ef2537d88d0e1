"""The rows of requests, for whoever erases what they are about: within the transaction that does."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, or_
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.tables.conditions import covered
from ebbing.adapters.sql.tables.service_tables import REQUEST
from ebbing.domain.memory.scope import Scope

_OF_TENANT: Final = REQUEST.c.tenant == bindparam("of_tenant")
_ABOUT: Final = and_(REQUEST.c.owner_kind == bindparam("of_kind"), REQUEST.c.owner_name == bindparam("of_name"))
_FORGET_ANSWERS: Final = delete(REQUEST).where(
    _OF_TENANT, REQUEST.c.body.is_(None), or_(REQUEST.c.owner_kind.is_(None), _ABOUT)
)
_FORGET_BODIES: Final = delete(REQUEST).where(_OF_TENANT, REQUEST.c.body.is_not(None), _ABOUT, covered(REQUEST))
_FORGET_TENANT: Final = delete(REQUEST).where(_OF_TENANT)


async def forget_answers(db: AsyncConnection, scope: Scope) -> None:
    """Remove the answers about an owner, or about nobody knows whom."""
    await db.execute(_FORGET_ANSWERS, _names(scope))


async def forget_requests(db: AsyncConnection, scope: Scope) -> None:
    """Remove those, and what is to be done later about what the scope covers."""
    await db.execute(_FORGET_ANSWERS, _names(scope))
    await db.execute(_FORGET_BODIES, {**_names(scope), "agent": scope.agent_id, "run": scope.run_id})


async def forget_requests_of_tenant(db: AsyncConnection, tenant: str) -> None:
    """Remove every request of a tenant."""
    await db.execute(_FORGET_TENANT, {"of_tenant": tenant})


def _names(scope: Scope) -> dict[str, Any]:
    owner = scope.owner
    return {"of_tenant": owner.tenant, "of_kind": owner.kind, "of_name": owner.name}
