"""The proxy as a whole: what a chat is given on its way in, and what becomes of it after its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from ebbing.assistant.inject import inject, inject_behind_question
from ebbing.interfaces.http.chat_proxy.chat_caller import ChatCaller
from ebbing.interfaces.http.chat_proxy.chat_request import ChatRequest
from ebbing.interfaces.http.chat_proxy.chat_sessions import ChatSession, ChatSessions
from ebbing.interfaces.http.chat_proxy.conversation import Turn, is_housekeeping, turns_of, with_answer
from ebbing.interfaces.http.chat_proxy.recall_blocks import RecallBlocks, Recalled
from ebbing.interfaces.http.chat_proxy.relay import Outgoing, Passage, Relay, request_headers
from ebbing.interfaces.http.chat_proxy.remembering import Remembering
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.request_context import Caller
from ebbing.memory import AsyncMemory
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.models.chat_endpoint import ChatEndpoint, HeaderList
from ebbing.wiring.components.chat import chat_endpoint
from ebbing.wiring.config.settings import Settings

_OK: Final = 200
ANSWER_HEADERS: Final = ("X-Ebbing-Memory", "X-Ebbing-Memories", "X-Ebbing-Session", "X-Ebbing-Stable-Share")
"""Headers by which a client learns what was done."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chat as it goes to the endpoint."""

    body: bytes
    headers: HeaderList
    """For the client: what was done."""
    session: ChatSession | None = None
    is_private: bool = False
    turns: list[Turn] = field(default_factory=list)
    """What was said so far."""


class ChatProxy:
    """Passes chats on to one endpoint, with the memories of whoever chats.

    Raises:
        ConfigurationError: the endpoint's address is not a URL.
    """

    def __init__(self, memory: AsyncMemory, settings: Settings) -> None:
        components = memory.components
        self._endpoint = chat_endpoint(settings)
        self._settings = settings
        meter = getattr(components.meter, "inner", components.meter)
        self._count = getattr(meter, "relayed", None)
        idle = timedelta(minutes=settings.session_idle_minutes)
        self.sessions = ChatSessions(components.clock, idle=idle)
        """The conversations of late."""
        self._blocks = RecallBlocks(settings)
        self._remembering = Remembering()
        self._passing = 0
        header = settings.trusted_header
        self._private_headers = frozenset({header.strip().lower().encode()} if header else ())
        if self._endpoint is not None:
            components.events.subscribe(Topic.MEMORY_DELETED, self._thaw)

    @property
    def endpoint(self) -> ChatEndpoint:
        """Where chats go.

        Raises:
            ProblemError: `proxy_off`.
        """
        if self._endpoint is None:
            raise ProblemError("proxy_off", "no address of a model is set, so this service passes no chats on")
        return self._endpoint

    @property
    def is_idle(self) -> bool:
        """Whether no answer goes by, and nothing is being remembered."""
        return not self._passing and not self._remembering.is_under_way

    async def prepare(self, caller: Caller, chat: ChatCaller, *, request: ChatRequest) -> Prepared:
        """Put what is remembered into a chat; late or without a memory, it stays as it came."""
        if chat.use == "off" or is_housekeeping(request.messages):
            self._counted("off", None)
            return Prepared(request.text.encode(), [(b"x-ebbing-memory", b"off")])
        turns = turns_of(request.messages, agent=chat.owner[2])
        session = self.sessions.find(chat.owner, chat.session, turns=turns)
        turns = session.turns_of(request.messages, turns)
        is_private = chat.use == "read"
        recalled = await self._blocks.recall(caller.memory, session, owner=chat.ids, turns=turns, private=is_private)
        messages = _with_blocks(request, recalled)
        texts = request.texts_of(messages)
        share = session.stable_share(texts)
        self._counted(recalled.outcome, share)
        if is_private:
            session.keep_private(turns)
        return Prepared(
            request.with_messages(texts), _memory_headers(session, recalled, share=share), session, is_private, turns
        )

    def relay(
        self,
        caller: Caller,
        request: Outgoing,
        *,
        added: HeaderList = (),
        ended: Callable[[Passage], None] = lambda _: None,
    ) -> Relay:
        """Return the answer of the endpoint to a request, which still has the headers of the client.

        Args:
            ended: called when the answer has gone by.

        Raises:
            ProblemError: `proxy_off`.
        """
        endpoint, key = self.endpoint, self._settings.proxy_api_key
        sent = request_headers(
            request.headers,
            key=key.get_secret_value() if key else None,
            passes_credential=caller.principal.name == "open",
            private=self._private_headers,
        )
        self._passing += 1

        def passed(passage: Passage) -> None:
            self._passing -= 1
            ended(passage)

        return Relay(endpoint, replace(request, headers=sent), added=added, ended=passed)

    def remember_after(
        self, caller: Caller, chat: ChatCaller, *, request: ChatRequest, prepared: Prepared
    ) -> Callable[[Passage], None]:
        """Return what is to be called when the answer has gone by."""
        return partial(self._remember, memory=caller.memory, chat=chat, request=request, prepared=prepared)

    async def aclose(self) -> None:
        """Finish what is being remembered, and let go of connections."""
        await self._remembering.finish()
        if self._endpoint is not None:
            await self._endpoint.aclose()

    def _remember(
        self, passage: Passage, *, memory: AsyncMemory, chat: ChatCaller, request: ChatRequest, prepared: Prepared
    ) -> None:
        """Remember a chat that was answered; what a client did not wait for counts as said, not as answered."""
        if passage.status != _OK or prepared.session is None or passage.reader.is_refusal:
            return
        turns = prepared.session.turns_of(request.messages, prepared.turns)
        turns = with_answer(turns, passage.reader.text, agent=chat.owner[2])
        self.sessions.note_answer(prepared.session, turns)
        if prepared.is_private:
            prepared.session.keep_private(turns)
        else:
            self._remembering.begin(memory, prepared.session, owner=chat.ids, turns=turns)

    def _counted(self, outcome: str, share: float | None) -> None:
        if self._count is not None:
            self._count(outcome, stable_share=share)

    def _thaw(self, event: MemoryEvent) -> None:
        self.sessions.thaw(event.scope.tenant, event.scope.user_id)


def _with_blocks(request: ChatRequest, recalled: Recalled) -> list[dict[str, Any]]:
    """Return the messages with both blocks, whole: recall bounded them, and leaves out of one what the other shows."""
    profile, question = recalled.profile.text, recalled.question.text
    messages = inject(request.messages, profile, max_chars=len(profile)) if profile else request.messages
    return inject_behind_question(messages, question, max_chars=len(question))


def _memory_headers(session: ChatSession, recalled: Recalled, *, share: float | None) -> HeaderList:
    """Return what the client is told of its memory, in headers."""
    headers = [
        (b"x-ebbing-memory", recalled.outcome.encode()),
        (b"x-ebbing-memories", str(len(recalled.profile.memory_ids) + len(recalled.question.memory_ids)).encode()),
    ]
    if session.name is not None and session.name.isascii() and session.name.isprintable():
        headers.append((b"x-ebbing-session", session.name.encode()))
    if share is not None:
        headers.append((b"x-ebbing-stable-share", f"{share:.4f}".encode()))
    return headers
