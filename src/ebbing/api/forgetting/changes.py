"""The change sets of an owner, as a list."""

from __future__ import annotations

from ebbing.api.answers.items import change_item
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import undone_by
from ebbing.domain.memory.scope import Scope
from ebbing.results import ChangePage
from ebbing.validation import checked_limit


class ChangesApi:
    """`memory.changes`: what was written about an owner."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def list(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> ChangePage:
        """List what was written about somebody, newest first: one change a call, import or round of maintenance.

        Args:
            user_id: whose changes. One id only: a change is about everything of an owner.
            limit: at most so many, 1 to 1,000.
            cursor: of the answer before, to go on.

        Returns:
            `{"changes": [{"id", "cause", "at", "inserted", "revised", "erased", "undoes", "undone_by"}],
            "next_cursor"}`. The counts are of memories and messages; `undoes` is the change that it took back, and
            `undone_by` the one that took it back as a whole.

        Raises:
            InvalidInputError: no id or more than one, a limit outside its bounds, or a foreign cursor.
        """
        scope = whole_scope(self._context, user_id=user_id, agent_id=agent_id, run_id=run_id)
        log = self._context.store.change_log
        page = await log.page(scope, limit=checked_limit(limit), cursor=cursor)
        undoings = await log.undoings(scope)
        items = [change_item(change, undone_by=undone_by(change, undoings)) for change in page.changes]
        return {"changes": items, "next_cursor": page.next_cursor}


def whole_scope(context: CallContext, *, user_id: str | None, agent_id: str | None, run_id: str | None) -> Scope:
    """Return the scope of everything of one owner.

    Raises:
        InvalidInputError: more than one id.
    """
    scope = context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
    if scope != scope.whole:
        raise InvalidInputError("a change is about all of an owner: give one of user_id, agent_id and run_id")
    return scope
