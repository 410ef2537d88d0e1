"""What was written about an owner, and taking it back."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ebbing.api.answers.items import change_item
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import ChangeNotFoundError, ConflictError, ErasedForGoodError, InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet, LoggedChange, undone_by
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.stores.change_log import RecordChange
from ebbing.remember.put_back import is_visible
from ebbing.remember.undo import UndoReport, undo
from ebbing.results import ChangePage, UndoAnswer
from ebbing.validation import checked_flag, checked_limit

# The change sets of an owner, as a list.


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


# Undoing: a change set is taken back as a whole, or for one memory.

_PAGE_SIZE = 100
_NOTHING = "there is no change that could be undone: `changes.list` shows the changes"


class Reversal:
    """The verb that takes back a change set."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def undo(
        self,
        change_id: str | None = None,
        *,
        memory_id: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        force: bool = False,
    ) -> UndoAnswer:
        """Take back a change as a whole: what it changed is as before, what it made is deleted.

        Undoing is a change itself, and can be undone. What was changed again since is left alone and told of.

        Args:
            change_id: of the answer of the call, or from `changes.list`.
            memory_id: instead, take back the last thing that happened to this memory: that it was closed, merged,
                faded, edited or deleted; at last that it was added.
            user_id: alone, the owner's last change that is neither an undoing, undone nor a signal of feedback; called
                again, the one before that. With an id, whose it must be.
            force: put back also what was changed again since.

        Returns:
            `{"change_id", "undone", "cause", "restored", "deleted", "superseded", "left", "erased"}`: the ids of the
            new change and of the one that it took back, the ids of memories that are as before, of those that the
            change had made, and of those that cannot be true beside a restored one and gave way; in `left` each
            `{"memory_id", "reason"}` that was left alone; how many were erased for good meanwhile.

        Raises:
            ChangeNotFoundError: no such change, or none that could be undone.
            ErasedForGoodError: all that it touched was erased.
            MemoryNotFoundError: no such memory, or not this user's.
            ConflictError: it is undone already, or somebody wrote all the while.
            InvalidInputError: neither or both of change and memory, and no owner.
        """
        forces = checked_flag(force, "force")
        if change_id is not None and memory_id is not None:
            raise InvalidInputError("give a change_id or a memory_id, and not both")
        if memory_id is not None:
            scope = (await self._context.require_scope(memory_id, user_id)).whole
            logged = await self._last_of_memory(scope, memory_id)
            done, undoing = await self._take_back(logged, scope, memory_id=memory_id, force=forces)
        elif change_id is not None:
            scope, logged = await self._named_change(change_id, user_id)
            done, undoing = await self._take_back(logged, scope, force=forces)
            if done.gone and not _did_something(done):
                raise ErasedForGoodError("all that this change touched was erased for good: it cannot be brought back")
        else:
            scope = whole_scope(self._context, user_id=user_id, agent_id=agent_id, run_id=run_id)
            async for logged in self._last_of(scope):
                done, undoing = await self._take_back(logged, scope, force=forces)
                if _did_something(done):
                    break
            else:
                raise ChangeNotFoundError(_NOTHING)
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=[*done.restored, *done.superseded])
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=done.deleted)
        return _undo_answer(logged, done, change_id=undoing)

    async def _take_back(
        self, logged: LoggedChange, scope: Scope, *, memory_id: str | None = None, force: bool
    ) -> tuple[UndoReport, str | None]:
        """Return what was taken back of a change, and the id of the change that this is."""
        change = ChangeSet(Cause.UNDO, undoes=logged.id, is_partial=memory_id is not None)
        using = await self._context.add_deps(change=change)
        return await undo(using, logged, scope=scope, memory_id=memory_id, force=force), change.only_id

    async def _named_change(self, change_id: object, user_id: str | None) -> tuple[Scope, LoggedChange]:
        """Return the change of an id, which must be the user's if one is given, and must not be undone."""
        if not isinstance(change_id, str) or not change_id:
            raise InvalidInputError("change_id must be a non-empty string")
        log = self._context.store.change_log
        scope = await log.scope_of(self._context.tenant, change_id)
        logged = None if scope is None else await log.get(scope, change_id)
        user = None if user_id is None else Scope(user_id=user_id).user_id
        if scope is None or logged is None or (user is not None and scope.user_id != user):
            raise ChangeNotFoundError("no change with this id: it is unknown, too old, or everything of it was erased")
        taker = undone_by(logged, await log.undoings(scope))
        if taker is not None:
            raise ConflictError(f"this change is undone already: to have it again, undo {taker}")
        return scope, logged

    async def _last_of(self, scope: Scope) -> AsyncIterator[LoggedChange]:
        """Return the owner's changes that somebody may want to take back, newest first."""
        log = self._context.store.change_log
        undoings = await log.undoings(scope)
        cursor = None
        while True:
            page = await log.page(scope, limit=_PAGE_SIZE, cursor=cursor)
            for change in page.changes:
                if change.cause not in {Cause.UNDO, Cause.FEEDBACK} and undone_by(change, undoings) is None:
                    yield change
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _last_of_memory(self, scope: Scope, memory_id: str) -> LoggedChange:
        """Return the last change of a memory that counts as one and is not taken back."""
        done = await self._context.store.change_log.of_memory(scope, memory_id)
        undoings = [item.logged for item in done if item.logged.undoes is not None]
        for item in done:
            if item.logged.undoes is None and _counts(item) and undone_by(item.logged, undoings, partly=True) is None:
                return item.logged
        raise ChangeNotFoundError("nothing that happened to this memory can be undone any more")


def _did_something(done: UndoReport) -> bool:
    """Return whether something was taken back, or is still there and was left alone."""
    return bool(done.restored or done.deleted or done.left)


def _counts(done: RecordChange) -> bool:
    """Return whether it is a change that somebody would want to take back; that it was added comes last."""
    return done.before is None or is_visible(done)


def _undo_answer(logged: LoggedChange, done: UndoReport, *, change_id: str | None) -> UndoAnswer:
    return {
        "change_id": change_id,
        "undone": logged.id,
        "cause": str(logged.cause),
        "restored": [*done.restored],
        "deleted": [*done.deleted],
        "superseded": [*done.superseded],
        "left": [{"memory_id": name, "reason": reason} for name, reason in done.left],
        "erased": done.gone,
    }
