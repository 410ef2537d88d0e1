"""The part of the façade for conversations that go on, and for those who want to hear of what happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ebbing.api.context import Preparing
from ebbing.api.search import Recalling
from ebbing.api.sessions.session import AsyncSession, as_given
from ebbing.api.sessions.session_buffer import Conversations
from ebbing.api.writes import Writing
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Handler, MemoryEvent, Topic
from ebbing.remember.add import add_extracted
from ebbing.remember.add_raw import add_raw
from ebbing.validation import checked_flag
from ebbing.wiring.build import Components


class Conversing(Writing, Recalling, Preparing):
    """What keeps running conversations, and tells of what happens."""

    def __init__(self, components: Components) -> None:
        super().__init__(components)
        self._conversations = Conversations(components, self._remember_said)

    def session(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        infer: bool = True,
        private: bool = False,
    ) -> AsyncSession:
        """A conversation whose last rounds are at hand at once and which is remembered when it ends.

        Args:
            run_id: its name; made up if not given. Two sessions of one name are one conversation.
            infer: what is made of it, as for `add`.
            private: it begins off the record; see `AsyncSession.private`. False leaves it as it is.

        Raises:
            InvalidInputError: an unusable id.
        """
        name = self._components.ids.new() if run_id is None else run_id
        scope = self._scope(filters=None, user_id=user_id, agent_id=agent_id, run_id=name)
        session = AsyncSession(
            scope,
            said=self._conversations,
            memory=self,
            clock=self._components.clock,
            ids=self._components.ids,
            infer=checked_flag(infer, "infer"),
        )
        if checked_flag(private, "private"):
            session.private = True
        return session

    def on(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Calls a function, sync or async, with a `MemoryEvent` whenever this happens through this memory.

        The call that it hears of returns after it. One that fails is logged and stops nobody.

        Args:
            topic: `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `memory.accessed` or
                `schedule.daily`.

        Returns:
            What ends it.

        Raises:
            InvalidInputError: an unknown topic, or nothing to call.
        """
        if topic not in set(Topic):
            raise InvalidInputError(f"topic must be one of {', '.join(Topic)}")
        if not callable(handler):
            raise InvalidInputError("handler must be a function that takes what happened")
        tenant = self._components.settings.tenant

        def hear(happening: MemoryEvent) -> Awaitable[None] | None:
            return handler(happening) if happening.scope.tenant == tenant else None

        return self._components.events.subscribe(Topic(topic), hear)

    async def _remember_said(
        self, session: Scope, messages: Sequence[Message], *, infer: bool, vectors: bool
    ) -> object:
        if vectors:
            # The session may be another tenant's: all who share these components share the running sessions.
            return await self.for_tenant(session.tenant).add(
                as_given(messages),
                user_id=session.user_id,
                agent_id=session.agent_id,
                run_id=session.run_id,
                infer=infer,
            )
        step = add_extracted if infer else add_raw
        return await step(self._writing(ChangeSet(Cause.ADD)), messages, scope=session, metadata={})
