"""The façade: the verbs of memory, and namespaces for the rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ebbing.api.admin.api_keys import ApiKeysApi
from ebbing.api.admin.audit import AuditApi
from ebbing.api.admin.transfers import Transfers
from ebbing.api.assistant.assistant import AssistantApi
from ebbing.api.calls.call_context import CallContext
from ebbing.api.events.subscriptions import Subscriptions
from ebbing.api.events.webhook_deliveries import WebhookDeliveries
from ebbing.api.events.webhooks import WebhooksApi
from ebbing.api.forgetting.changes import ChangesApi, Reversal
from ebbing.api.forgetting.erasure import Erasure
from ebbing.api.forgetting.forget_topic import TopicForgetting
from ebbing.api.forgetting.reviews import ReviewsApi
from ebbing.api.memories.context_block import ContextBlocks
from ebbing.api.memories.feedback import UsageSignals
from ebbing.api.memories.merge_sources import MergeSources
from ebbing.api.memories.searches import Searches
from ebbing.api.memories.writes import Writes
from ebbing.api.overview.overview import OverviewApi
from ebbing.api.people.graph import Graphs
from ebbing.api.people.identities import IdentitiesApi
from ebbing.api.people.portraits import Portraits, ProfileRefresher
from ebbing.api.people.profiles import ProfilesApi
from ebbing.api.sessions.session import AsyncSession
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.api.sessions.sessions import Sessions, SessionWriter
from ebbing.api.upkeep.jobs import JobsApi
from ebbing.api.upkeep.maintenance import MaintenanceApi
from ebbing.api.upkeep.queued_adds import QueuedAdds
from ebbing.api.upkeep.rounds import MaintenanceRounds
from ebbing.ports.clock import Clock
from ebbing.ports.event_bus import Handler
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.reranker import Reranker
from ebbing.recall.recall_settings import RecallSettings
from ebbing.wiring.build import Components, build, settings_from_config

_Service = TypeVar("_Service")
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def _delegate(
    method: Callable[Concatenate[_Service, _Arguments], Coroutine[Any, Any, _Answer]],
    service: Callable[[AsyncMemory], _Service],
) -> Callable[Concatenate[AsyncMemory, _Arguments], Coroutine[Any, Any, _Answer]]:
    """Return a method that calls `method` of the service: same arguments, same answer, same documentation."""

    async def call(self: AsyncMemory, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        return await method(service(self), *args, **kwargs)

    update_wrapper(call, method)
    return call


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the views of all tenants share; it listens to events from now on."""

    profile_refresher: ProfileRefresher
    sessions: SessionBuffer
    webhook_deliveries: WebhookDeliveries


class AsyncMemory:
    """Long-term memory in one local directory; no server needed.

    Every call names its owner by `user_id`, `agent_id` or `run_id` (directly or inside `filters`); a memory that names
    a user belongs to the user. Safe to use from many tasks; several processes may share a path.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        recall_settings: RecallSettings | None = None,
        reranker: Reranker | str | None = None,
        chat_model: ChatModel | None = None,
        components: Components | None = None,
    ) -> None:
        """Open the memory at `path` (default: `EBBING_PATH`, else `./ebbing-data`); the model loads on first use.

        Args:
            path: directory of the store; made if it does not exist.
            embedder: `auto`, `e5`, `sentence-encoder`, `openai`, `none`, or an object with the `Embedder` port.
            clock: the source of "now"; the system's unless a test or a simulation gives one.
            recall_settings: the numbers that recall runs on.
            reranker: `none`, `late`, `endpoint`, or an object with the `Reranker` port.
            chat_model: a language model with the `ChatModel` port, in place of the endpoint that the settings name.
            components: pre-built components of `ebbing.wiring.build`; they override the other arguments.

        Raises:
            ConfigurationError: a setting is wrong.
            StoreError: the store cannot be opened.
        """
        components = components or build(
            path=path,
            embedder=embedder,
            clock=clock,
            recall_settings=recall_settings,
            reranker=reranker,
            chat_model=chat_model,
        )
        context = CallContext(components)
        self._shared = _Shared(
            ProfileRefresher(context.profiles, events=components.events, clock=components.clock),
            SessionBuffer(components, SessionWriter(context)),
            WebhookDeliveries(components),
        )
        self._compose(context, is_view=False)

    def _compose(self, context: CallContext, *, is_view: bool) -> None:
        """Build the services of one tenant; a view leaves it to the memory that it came from to close the store."""
        self._context, self._is_view = context, is_view
        shared = self._shared
        portraits = Portraits(context, refresher=shared.profile_refresher)
        rounds = MaintenanceRounds(context)
        self._writes = Writes(context)
        self._queued_adds = QueuedAdds(context, writes=self._writes)
        self._searches = Searches(context)
        self._context_blocks = ContextBlocks(context, portraits=portraits)
        self._sessions = Sessions(context, shared.sessions, searches=self._searches, contexts=self._context_blocks)
        self._usage_signals = UsageSignals(context)
        self._merge_sources = MergeSources(context)
        self._graphs = Graphs(context)
        self._topic_forgetting = TopicForgetting(context)
        self._reversal = Reversal(context)
        self._erasure = Erasure(context, sessions=shared.sessions)
        self._transfers = Transfers(context)
        self._subscriptions = Subscriptions(context)
        self.profiles = ProfilesApi(context, portraits=portraits)
        self.identities = IdentitiesApi(context, sessions=shared.sessions)
        self.assistant = AssistantApi(context, contexts=self._context_blocks, portraits=portraits)
        self.changes = ChangesApi(context)
        self.reviews = ReviewsApi(context)
        self.maintenance = MaintenanceApi(context, rounds=rounds)
        self.jobs = JobsApi(
            context,
            queued_adds=self._queued_adds,
            sources=[self._queued_adds, shared.webhook_deliveries, rounds],
            sessions=shared.sessions,
        )
        self.overview = OverviewApi(
            context,
            graphs=self._graphs,
            maintenance=self.maintenance,
            searches=self._searches,
            contexts=self._context_blocks,
        )
        self.webhooks = WebhooksApi(context)
        self.api_keys = ApiKeysApi(context)
        self.audit = AuditApi(context)

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any] | None = None,
        *,
        config_dict: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """Open the memory that a config describes, in our settings' names or in mem0's shape; see docs/mem0.md.

        Args:
            config_dict: another name for `config`.

        Raises:
            ConfigurationError: a key is unknown, a value does not fit, or a provider's key is missing.
        """
        values = config if config_dict is None else config_dict
        return cls(components=build(settings_from_config(values or {}), clock=clock))

    @classmethod
    def from_env(cls) -> Self:
        """Open the memory that the environment describes (`EBBING_*`).

        Raises:
            ConfigurationError: a value does not fit.
        """
        return cls()

    @property
    def components(self) -> Components:
        """What this memory is built of."""
        return self._context.components

    def for_tenant(self, tenant: str) -> Self:
        """Return this memory for another tenant: the same store and models, and none but that tenant's rows.

        It lives as long as the memory that it came from; closing it closes nothing.

        Raises:
            InvalidInputError: an unusable name.
        """
        view = copy(self)
        view._compose(self._context.for_tenant(tenant), is_view=True)  # noqa: SLF001 - of this class
        return view

    add = _delegate(Writes.add, lambda self: self._writes)
    enqueue_add = _delegate(QueuedAdds.enqueue_add, lambda self: self._queued_adds)
    update = _delegate(Writes.update, lambda self: self._writes)
    delete = _delegate(Writes.delete, lambda self: self._writes)
    restore = _delegate(Writes.restore, lambda self: self._writes)
    undo = _delegate(Reversal.undo, lambda self: self._reversal)
    forget = _delegate(TopicForgetting.forget, lambda self: self._topic_forgetting)
    delete_all = _delegate(Erasure.delete_all, lambda self: self._erasure)
    reset = _delegate(Erasure.reset, lambda self: self._erasure)

    search = _delegate(Searches.search, lambda self: self._searches)
    search_records = _delegate(Searches.search_records, lambda self: self._searches)
    get_context = _delegate(ContextBlocks.get_context, lambda self: self._context_blocks)
    get = _delegate(Searches.get, lambda self: self._searches)
    get_all = _delegate(Searches.get_all, lambda self: self._searches)
    get_sources = _delegate(MergeSources.get_sources, lambda self: self._merge_sources)
    history = _delegate(Searches.history, lambda self: self._searches)
    explain = _delegate(Searches.explain, lambda self: self._searches)
    graph = _delegate(Graphs.graph, lambda self: self._graphs)
    graph_dot = _delegate(Graphs.graph_dot, lambda self: self._graphs)
    feedback = _delegate(UsageSignals.feedback, lambda self: self._usage_signals)
    attribute_usage = _delegate(UsageSignals.attribute_usage, lambda self: self._usage_signals)

    export = _delegate(Transfers.export, lambda self: self._transfers)
    import_ = _delegate(Transfers.import_, lambda self: self._transfers)

    def session(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        infer: bool = True,
        private: bool = False,
    ) -> AsyncSession:
        """Open a conversation whose last turns are at hand at once and which is stored when it ends.

        Args:
            run_id: its name; made up if not given. Two sessions of one name are one conversation.
            infer: what is made of it, as for `add`.
            private: it begins off the record; see `AsyncSession.private`. False leaves it as it is.

        Raises:
            InvalidInputError: an unusable id.
        """
        return self._sessions.session(user_id=user_id, run_id=run_id, agent_id=agent_id, infer=infer, private=private)

    def subscribe(self, event: str, handler: Handler) -> Callable[[], None]:
        """Call a function, sync or async, with a `MemoryEvent` whenever this happens through this memory.

        The call that it belongs to returns after it. A handler that fails is logged and stops nobody.

        Args:
            event: `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `memory.accessed` or
                `schedule.daily`.

        Returns:
            A function that ends the subscription.

        Raises:
            InvalidInputError: an unknown event, or nothing to call.
        """
        return self._subscriptions.subscribe(event, handler)

    async def close(self) -> None:
        """End running sessions, finish accepted work, and close files and threads; idempotent.

        Closes everything even if one part fails; raises that error afterwards.
        """
        if self._is_view:
            return
        components = self.components
        async with AsyncExitStack() as closing:  # it closes the last first
            closing.push_async_callback(components.embedder.aclose)
            closing.push_async_callback(components.store.aclose)
            closing.push_async_callback(components.reranker.aclose)
            closing.push_async_callback(components.chat.aclose)
            closing.push_async_callback(components.webhooks.aclose)
            closing.push_async_callback(components.usage.flush)
            closing.push_async_callback(components.following.aclose)
            if components.graph is not None:
                closing.push_async_callback(components.graph.aclose)
            if components.vectors is not None:
                closing.push_async_callback(components.vectors.follower.aclose)
            closing.push_async_callback(components.rates.aclose)
            closing.push_async_callback(components.working.aclose)
            closing.push_async_callback(self._shared.sessions.end_all)
            closing.push_async_callback(self._shared.profile_refresher.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
