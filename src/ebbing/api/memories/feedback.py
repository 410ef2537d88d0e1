"""Feedback: what became of a memory that a search returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import SIGNAL_NAMES, Feedback, Signal
from ebbing.recall.usage import used_memories
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.results import AttributionAnswer, FeedbackAnswer
from ebbing.validation import checked_reason

MAX_RECALL_ID: Final = 256


class UsageSignals:
    """The verbs that tell a memory that was of use from one that was only returned."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def feedback(
        self,
        memory_id: str,
        signal: str,
        *,
        user_id: str | None = None,
        recall_id: str | None = None,
        reason: str | None = None,
    ) -> FeedbackAnswer:
        """Say what became of a recalled memory; durable when it returns.

        `used` and `up` reinforce it: it fades more slowly from now on; `corrected` lets it fade faster. The other
        signals are kept for `explain` and change nothing else: to put a memory right, `update` or `delete` it.

        Args:
            signal: `used`, `ignored`, `corrected`, `up` or `down`; or mem0's `POSITIVE` (up), `NEGATIVE` and
                `VERY_NEGATIVE` (down).
            recall_id: names the answer that held the memory. The same signal about the same memory and answer counts
                once, and so does its use, so that a call may be repeated; without it every call counts.
            reason: in the person's words, at most 1,000 characters; kept with the memory and erased with it.

        Returns:
            `{"id", "signal", "reason", "counted", "change_id"}`; `counted` is False for a repeat. `undo` takes back
            what the signal did to the memory; that it was given stays known.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: an unknown signal, or a `recall_id` that is no short string.
            TooLargeError: a reason over 1,000 characters.
            StoreError: it could not be stored.
        """
        meant, why, answer_id = _signal(signal), checked_reason(reason), _recall_id(recall_id)
        scope = await self._context.require_scope(memory_id, user_id)
        feedback = Feedback(memory_id, meant, answer_id or self._context.ids.new(), self._context.clock.now(), why)
        change = ChangeSet(Cause.FEEDBACK)
        counted = await self._context.store.usage.tell(scope, feedback, change=change)
        return {
            "id": memory_id,
            "signal": meant.value,
            "reason": why,
            "counted": counted,
            "change_id": change.only_id,
        }

    async def attribute_usage(
        self,
        answer: str,
        results: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        question: str = "",
        user_id: str | None = None,
    ) -> AttributionAnswer:
        """Note as `used` the memories that an assistant's answer says something of, judged by its words.

        Args:
            answer: what the assistant said.
            found: what `search` returned for it; with its `recall_id`, a repeated call counts once.
            question: what was asked: an answer that repeats it uses no memory by that.

        Returns:
            `{"used": [ids]}`; memories that are gone meanwhile are left out.

        Raises:
            InvalidInputError: `answer` or `question` is no string, or `found` is not what `search` returns.
            StoreError: it could not be stored.
        """
        if not isinstance(answer, str) or not isinstance(question, str):
            raise InvalidInputError("answer and question must be strings")
        memories, recall_id = _recalled(results)
        answer_id = recall_id or self._context.ids.new()
        used, change = [], ChangeSet(Cause.FEEDBACK)
        for memory_id in used_memories(clean_text(answer), memories, question=clean_text(question)):
            scope = await self._context.find_scope(memory_id, user_id)
            if scope is not None:
                signal = Feedback(memory_id, Signal.USED, answer_id, self._context.clock.now())
                await self._context.store.usage.tell(scope, signal, change=change)
                used.append(memory_id)
        return {"used": used}


def _signal(signal: object) -> Signal:
    meant = SIGNAL_NAMES.get(signal.strip().lower()) if isinstance(signal, str) else None
    if meant is None:
        raise InvalidInputError(f"signal must be one of {', '.join(SIGNAL_NAMES)}")
    return meant


def _recall_id(recall_id: object) -> str | None:
    if recall_id is None:
        return None
    if not isinstance(recall_id, str) or not (name := clean_text(recall_id)) or len(name) > MAX_RECALL_ID:
        raise InvalidInputError(f"recall_id must be a non-empty string of at most {MAX_RECALL_ID} characters")
    return name


def _recalled(answer: object) -> tuple[dict[str, str], str | None]:
    """Id and text of every memory, and the answer's id if it has one."""
    results: Any = answer
    recall_id = None
    if isinstance(answer, Mapping):
        results, recall_id = answer.get("results"), answer.get("recall_id")
    try:
        memories = {str(item["id"]): str(item["memory"]) for item in results or ()}
    except (KeyError, TypeError):
        raise InvalidInputError("found must be what search returned: results with id and memory") from None
    return memories, _recall_id(recall_id)
