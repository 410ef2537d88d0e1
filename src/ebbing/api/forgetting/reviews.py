"""Reviews: decisions that are left to a person."""

from __future__ import annotations

from enum import StrEnum

from ebbing.api.answers.items import review_item
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.ports.event_bus import Topic
from ebbing.remember.edit import delete
from ebbing.remember.reconcile.review import accept, get_review, keep, waiting_reviews
from ebbing.results import ReviewAnswer, ReviewList
from ebbing.validation import checked_limit

_DROPPED = "dropped at a review"


class ReviewDecision(StrEnum):
    """What somebody may decide at a review."""

    ACCEPT = "accept"
    KEEP = "keep"
    DROP = "drop"


class ReviewsApi:
    """`memory.reviews`: what waits for the decision of a person."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def list(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 100,
    ) -> ReviewList:
        """Return what waits for a decision, newest first.

        Two kinds do. A memory whose statement would have closed more than two others closed none. A message that
        speaks like an order to the assistant is kept, and nothing was learnt from it.

        Args:
            user_id: whose; any one id, or several that narrow it.
            limit: at most so many, 1 to 1,000.

        Returns:
            `{"reviews": [{"id", "memory", "kind", "created_at", "why", "reason", "would_close"}]}`; `why` is
            `closes_many` or `quarantined`, `reason` says more where it is known, and `would_close` lists the current
            memories that accepting it closes, each with `id` and `memory`.

        Raises:
            InvalidInputError: no owner, or a limit outside its bounds.
        """
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=None)
        waiting = await waiting_reviews(self._context.store, scope, limit=checked_limit(limit))
        return {"reviews": [*map(review_item, waiting)]}

    async def resolve(self, memory_id: str, decision: str, *, user_id: str | None = None) -> ReviewAnswer:
        """Decide on one that waits; one change, which `undo` takes back.

        Args:
            decision: `accept` closes the memories that it would close, or learns from the message as if it had never
                been held back; `keep` lets the memory stand beside them; `drop` deletes it.

        Returns:
            `{"id", "decision", "superseded", "learned", "change_id"}`: the ids of the memories that were closed, and
            of those that were learnt.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: another decision, a memory that waits for none, or `keep` for a message.
            ConflictError: somebody changed it in between: look again.
        """
        if decision not in set(ReviewDecision):
            raise InvalidInputError(f"decision must be one of {', '.join(ReviewDecision)}")
        scope = await self._context.require_scope(memory_id, user_id)
        change = ChangeSet(Cause.REVIEW)
        using = await self._context.add_deps(change=change)
        records = await using.store.get(scope, [memory_id])
        if not records:
            raise MemoryNotFoundError("this memory is deleted: restore it first")
        review = await get_review(using.store, records[0])
        superseded: list[str] = []
        learned: list[str] = []
        if decision == ReviewDecision.ACCEPT:
            superseded, outcomes = await accept(using, review)
            superseded += [name for outcome in outcomes for name in outcome.closed_ids]
            learned = [
                outcome.memory_id
                for outcome in outcomes
                if outcome.record is not None and outcome.memory_id is not None
            ]
        elif decision == ReviewDecision.KEEP:
            await keep(using, review)
        else:
            await delete(using, memory_id, scope=scope, reason=_DROPPED, hard=False)
            await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=[memory_id])
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=superseded)
        await self._context.publish(Topic.MEMORY_ADDED, scope, memory_ids=learned)
        return {
            "id": memory_id,
            "decision": str(decision),
            "superseded": superseded,
            "learned": learned,
            "change_id": change.only_id,
        }
