"""Sessions: running conversations, and their way into long-term memory."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.api.calls.call_context import CallContext
from ebbing.api.memories.context_block import ContextBlocks
from ebbing.api.memories.searches import Searches
from ebbing.api.memories.writes import Writes
from ebbing.api.sessions.session import AsyncSession, as_given
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.remember.add import add_extracted
from ebbing.remember.add_raw import add_raw
from ebbing.remember.intake.screening import messages_on_record
from ebbing.validation import checked_flag


class Sessions:
    """The verb that opens a session."""

    def __init__(
        self, context: CallContext, buffer: SessionBuffer, *, searches: Searches, contexts: ContextBlocks
    ) -> None:
        self._context, self._buffer = context, buffer
        self._searches, self._contexts = searches, contexts

    def session(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        infer: bool = True,
        private: bool = False,
    ) -> AsyncSession:
        """Return a conversation whose last rounds are at hand at once and which is remembered when it ends.

        Args:
            run_id: its name; made up if not given. Two sessions of one name are one conversation.
            infer: what is made of it, as for `add`.
            private: it begins off the record; see `AsyncSession.private`. False leaves it as it is.

        Raises:
            InvalidInputError: an unusable id.
        """
        name = self._context.ids.new() if run_id is None else run_id
        scope = self._context.scope(filters=None, user_id=user_id, agent_id=agent_id, run_id=name)
        session = AsyncSession(
            scope,
            buffer=self._buffer,
            searches=self._searches,
            contexts=self._contexts,
            clock=self._context.clock,
            ids=self._context.ids,
            infer=checked_flag(infer, "infer"),
        )
        if checked_flag(private, "private"):
            session.private = True
        return session


class SessionWriter:
    """Stores messages of sessions, those of all tenants: they share the buffer of running sessions."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def __call__(self, session: Scope, messages: Sequence[Message], *, infer: bool, vectors: bool) -> object:
        """Store messages; without `vectors` not even the embedder is asked."""
        context = self._context.for_tenant(session.tenant)
        if vectors:
            return await Writes(context, is_later=True).add(
                as_given(messages),
                user_id=session.user_id,
                agent_id=session.agent_id,
                run_id=session.run_id,
                infer=infer,
            )
        step = add_extracted if infer else add_raw
        recorded = messages_on_record(messages).messages
        return await step(context.write_deps(ChangeSet(Cause.ADD)), recorded, scope=session, metadata={})
