"""The deletion of several memories at once."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.ports.event_bus import Topic
from ebbing.remember.edit import delete
from ebbing.results import DeletedMemoriesAnswer
from ebbing.validation import MAX_PAGE, checked_reason


async def delete_memories(
    context: CallContext, memory_ids: Sequence[str], *, user_id: str | None, reason: str | None
) -> DeletedMemoriesAnswer:
    """Take memories of one owner out of every answer: see `MaintenanceApi.delete_memories`."""
    if isinstance(memory_ids, str) or not 1 <= len(memory_ids) <= MAX_PAGE:
        raise InvalidInputError(f"give a list of 1 to {MAX_PAGE:,} ids")
    why, change = checked_reason(reason), ChangeSet(Cause.DELETE)
    scopes = {name: await context.find_scope(name, user_id) for name in dict.fromkeys(memory_ids)}
    if len({scope.owner for scope in scopes.values() if scope is not None}) > 1:
        raise InvalidInputError("these memories are of several owners: delete those of one at a time")
    deps = context.write_deps(change)
    deleted: list[str] = []
    missing: list[str] = []
    for name, scope in scopes.items():
        if scope is None or not await context.store.get(scope, [name]):
            missing.append(name)
            continue
        await delete(deps, name, scope=scope, reason=why, hard=False)
        await context.publish(Topic.MEMORY_DELETED, scope, memory_ids=[name])
        deleted.append(name)
    return {"deleted": deleted, "missing": missing, "change_id": change.only_id}
