"""The names of what lies in Redis. A key begins with tenant and owner, and so do the members of the lists of all."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from ebbing.domain.memory.scope import Scope

PREFIX: Final = "ebbing:"
"""All keys begin so; a server may hold other things beside them."""


def tenant_key(tenant: str, *parts: str) -> str:
    """Return the key of what belongs to a tenant."""
    return PREFIX + ":".join((json.dumps(tenant), *parts))


def session_key(session: Scope, *parts: str) -> str:
    """Return the key of what belongs to a session; who that is cannot be read from it."""
    names = json.dumps([session.user_id, session.agent_id, session.run_id])
    digest = hashlib.blake2b(names.encode(), digest_size=16).hexdigest()
    return tenant_key(session.tenant, session.owner.digest, digest, *parts)


def member_of(session: Scope) -> str:
    """Return what stands for a session in a list."""
    return json.dumps([session.tenant, session.owner.digest, session.user_id, session.agent_id, session.run_id])


def session_of(member: str) -> Scope:
    """Return the session that a member of a list stands for."""
    tenant, _, user_id, agent_id, run_id = json.loads(member)
    return Scope(user_id=user_id, agent_id=agent_id, run_id=run_id, tenant=tenant)


def opening_of(within: Scope | str) -> str:
    """Return how the members of all sessions of an owner, or of a tenant, begin."""
    names = [within] if isinstance(within, str) else [within.tenant, within.owner.digest]
    return json.dumps(names).removesuffix("]") + ", "
