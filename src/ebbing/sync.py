"""The same memory for code that does not await: each method of `AsyncMemory`, run on an event loop of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from copy import copy
from functools import partial, update_wrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ebbing.api.threads.blocking import (
    BlockingApiKeysApi,
    BlockingAssistantApi,
    BlockingAuditApi,
    BlockingChangesApi,
    BlockingIdentitiesApi,
    BlockingJobsApi,
    BlockingMaintenanceApi,
    BlockingOverviewApi,
    BlockingProfilesApi,
    BlockingReviewsApi,
    BlockingWebhooksApi,
    Session,
    in_a_thread,
)
from ebbing.domain.errors import StoreClosedError
from ebbing.loop_thread import LoopThread
from ebbing.memory import AsyncMemory
from ebbing.ports.clock import Clock
from ebbing.ports.event_bus import Handler
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.reranker import Reranker
from ebbing.recall.recall_settings import RecallSettings
from ebbing.wiring.build import Components, build, settings_from_config

_CLOSED: Final = "this memory is closed: open a new one"
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def _blocking(
    method: Callable[Concatenate[AsyncMemory, _Arguments], Coroutine[Any, Any, _Answer]],
) -> Callable[Concatenate[Memory, _Arguments], _Answer]:
    """The method with the same signature and documentation, returning when it is done."""

    def call(self: Memory, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        return self._run(partial(method, self._memory, *args, **kwargs))

    update_wrapper(call, method)
    return call


class Memory:
    """Long-term memory in one local directory; no server needed.

    The blocking twin of `AsyncMemory`: the same methods with the same arguments. Safe to use from many threads;
    several processes may share a path. After a fork, open a new one in the child.
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
        """Open the memory at `path`; see `AsyncMemory`.

        Raises:
            ConfigurationError: a setting is wrong.
            StoreError: the store cannot be opened.
        """
        self._loop = LoopThread()
        self._closed = self._is_view = False
        self._compose(
            AsyncMemory(
                path,
                embedder=embedder,
                clock=clock,
                recall_settings=recall_settings,
                reranker=reranker,
                chat_model=chat_model,
                components=components,
            )
        )

    def _compose(self, memory: AsyncMemory) -> None:
        """Build the namespaces of one tenant."""
        self._memory = memory
        self.profiles = BlockingProfilesApi(memory.profiles, self._run)
        self.identities = BlockingIdentitiesApi(memory.identities, self._run)
        self.assistant = BlockingAssistantApi(memory.assistant, self._run)
        self.changes = BlockingChangesApi(memory.changes, self._run)
        self.reviews = BlockingReviewsApi(memory.reviews, self._run)
        self.maintenance = BlockingMaintenanceApi(memory.maintenance, self._run)
        self.jobs = BlockingJobsApi(memory.jobs, self._run)
        self.overview = BlockingOverviewApi(memory.overview, self._run)
        self.webhooks = BlockingWebhooksApi(memory.webhooks, self._run)
        self.api_keys = BlockingApiKeysApi(memory.api_keys, self._run)
        self.audit = BlockingAuditApi(memory.audit, self._run)

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
        return self._memory.components

    add = _blocking(AsyncMemory.add)
    enqueue_add = _blocking(AsyncMemory.enqueue_add)
    update = _blocking(AsyncMemory.update)
    delete = _blocking(AsyncMemory.delete)
    restore = _blocking(AsyncMemory.restore)
    undo = _blocking(AsyncMemory.undo)
    forget = _blocking(AsyncMemory.forget)
    delete_all = _blocking(AsyncMemory.delete_all)
    reset = _blocking(AsyncMemory.reset)

    search = _blocking(AsyncMemory.search)
    search_records = _blocking(AsyncMemory.search_records)
    get_context = _blocking(AsyncMemory.get_context)
    get = _blocking(AsyncMemory.get)
    get_all = _blocking(AsyncMemory.get_all)
    get_sources = _blocking(AsyncMemory.get_sources)
    history = _blocking(AsyncMemory.history)
    explain = _blocking(AsyncMemory.explain)
    graph = _blocking(AsyncMemory.graph)
    graph_dot = _blocking(AsyncMemory.graph_dot)
    feedback = _blocking(AsyncMemory.feedback)
    attribute_usage = _blocking(AsyncMemory.attribute_usage)

    export = _blocking(AsyncMemory.export)
    import_ = _blocking(AsyncMemory.import_)

    def session(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        infer: bool = True,
        private: bool = False,
    ) -> Session:
        """Open a conversation whose last turns are at hand at once and which is stored when it ends.

        Args:
            run_id: its name; made up if not given. Two sessions of one name are one conversation.
            infer: what is made of it, as for `add`.
            private: it begins off the record; see `AsyncSession.private`. False leaves it as it is.

        Raises:
            InvalidInputError: an unusable id.
        """
        session = self._memory.session(user_id=user_id, run_id=run_id, agent_id=agent_id, infer=infer, private=private)
        return Session(session, self._run)

    def subscribe(self, event: str, handler: Handler) -> Callable[[], None]:
        """Call a function, sync or async, with a `MemoryEvent` whenever this happens through this memory.

        The call that it belongs to returns after it. A handler that fails is logged and stops nobody. A sync one runs
        in a thread of its own and may use this memory; an async one may not, since it runs where the memory does.

        Args:
            event: `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `memory.accessed` or
                `schedule.daily`.

        Returns:
            A function that ends the subscription.

        Raises:
            InvalidInputError: an unknown event, or nothing to call.
        """
        return self._memory.subscribe(event, in_a_thread(handler))

    def for_tenant(self, tenant: str) -> Self:
        """Return this memory for another tenant: the same store and models, and none but that tenant's rows.

        It lives as long as the memory that it came from; closing it closes nothing.

        Raises:
            InvalidInputError: an unusable name.
        """
        view = copy(self)
        view._is_view = True  # noqa: SLF001 - of this class
        view._compose(self._memory.for_tenant(tenant))  # noqa: SLF001
        return view

    def close(self) -> None:
        """End running sessions, finish accepted work, and close files and threads; idempotent.

        Closes everything even if one part fails; raises that error afterwards.
        """
        if self._is_view or self._closed or self._loop.is_inherited:
            return
        try:
            self._run(self._memory.close)
        finally:
            self._closed = True
            self._loop.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, call: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
        if self._closed:
            raise StoreClosedError(_CLOSED)
        return self._loop.run(call())
