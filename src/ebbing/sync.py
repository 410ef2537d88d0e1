"""The same memory for code that does not await: every method of `AsyncMemory`, run on an event loop of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from copy import copy
from functools import partial, update_wrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ebbing.api.sessions.sync_session import Session
from ebbing.api.threads.sync_handlers import in_a_thread
from ebbing.domain.errors import StoreClosedError
from ebbing.loop_thread import LoopThread
from ebbing.memory import AsyncMemory
from ebbing.ports.chat_model import ChatModel
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.event_bus import Handler
from ebbing.ports.reranker import Reranker
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.wiring.build import Components, build, settings_from_config

_CLOSED: Final = "this memory is closed: open a new one"
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _blocking(
    method: Callable[Concatenate[AsyncMemory, _Given], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Memory, _Given], _Result]:
    """The method with the same signature and documentation, returning when it is done."""

    def call(self: Memory, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return self._run(partial(method, self._memory, *args, **kwargs))

    update_wrapper(call, method)
    return call


def _blocking_here(
    method: Callable[Concatenate[AsyncMemory, _Given], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Memory, _Given], _Result]:
    """The same for a method that may begin without an event loop: it runs in the caller's thread while it can."""

    def call(self: Memory, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if self._closed:
            raise StoreClosedError(_CLOSED)
        memory = self._memory
        return self._loop.run_here(method(memory, *args, **kwargs), at_home=memory.components.usage.live_on)

    update_wrapper(call, method)
    return call


class Memory:
    """A person's long-term memory, in one directory, with nothing but this package.

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
        """Opens the memory at `path`; see `AsyncMemory`.

        Raises:
            ConfigurationError: a setting is wrong.
            StoreError: the store cannot be opened.
        """
        made = components or build(
            path=path,
            embedder=embedder,
            clock=clock,
            recall_settings=recall_settings,
            reranker=reranker,
            chat_model=chat_model,
        )
        self._memory = AsyncMemory(components=made)
        self._loop = LoopThread()
        self._closed = self._is_view = False

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any] | None = None,
        *,
        config_dict: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """A memory for a config in our settings' names or in mem0's shape; see docs/mem0.md.

        Args:
            config_dict: another name for `config`.

        Raises:
            ConfigurationError: a key is unknown, a value does not fit, or a provider's key is missing.
        """
        given = config if config_dict is None else config_dict
        return cls(components=build(settings_from_config(given or {}), clock=clock))

    @classmethod
    def from_env(cls) -> Self:
        """A memory for what the environment says (`EBBING_*`).

        Raises:
            ConfigurationError: a value does not fit.
        """
        return cls()

    @property
    def components(self) -> Components:
        """What this memory is made of."""
        return self._memory.components

    add = _blocking_here(AsyncMemory.add)
    add_later = _blocking(AsyncMemory.add_later)
    search = _blocking_here(AsyncMemory.search)
    recall = _blocking_here(AsyncMemory.recall)
    get_context = _blocking(AsyncMemory.get_context)
    profile = _blocking(AsyncMemory.profile)
    rebuild_profile = _blocking(AsyncMemory.rebuild_profile)
    edit_profile = _blocking(AsyncMemory.edit_profile)
    import_profile = _blocking(AsyncMemory.import_profile)
    set_profile_defaults = _blocking(AsyncMemory.set_profile_defaults)
    suggest_questions = _blocking(AsyncMemory.suggest_questions)
    graph = _blocking(AsyncMemory.graph)
    identity = _blocking(AsyncMemory.identity)
    link_identity = _blocking(AsyncMemory.link_identity)
    unlink_identity = _blocking(AsyncMemory.unlink_identity)
    identities = _blocking(AsyncMemory.identities)
    merge_identities = _blocking(AsyncMemory.merge_identities)
    undo_merge = _blocking(AsyncMemory.undo_merge)
    merges = _blocking(AsyncMemory.merges)
    get = _blocking(AsyncMemory.get)
    get_all = _blocking(AsyncMemory.get_all)
    update = _blocking(AsyncMemory.update)
    delete = _blocking(AsyncMemory.delete)
    restore = _blocking(AsyncMemory.restore)
    undo = _blocking(AsyncMemory.undo)
    changes = _blocking(AsyncMemory.changes)
    reviews = _blocking(AsyncMemory.reviews)
    resolve_review = _blocking(AsyncMemory.resolve_review)
    delete_all = _blocking(AsyncMemory.delete_all)
    feedback = _blocking(AsyncMemory.feedback)
    credit = _blocking(AsyncMemory.credit)
    history = _blocking(AsyncMemory.history)
    explain = _blocking(AsyncMemory.explain)
    export = _blocking(AsyncMemory.export)
    import_ = _blocking(AsyncMemory.import_)
    owners = _blocking(AsyncMemory.owners)
    stats = _blocking(AsyncMemory.stats)
    retry_unread = _blocking(AsyncMemory.retry_unread)
    upkeep = _blocking(AsyncMemory.upkeep)
    compress = _blocking(AsyncMemory.compress)
    abstract = _blocking(AsyncMemory.abstract)
    expand = _blocking(AsyncMemory.expand)
    decay = _blocking(AsyncMemory.decay)
    work = _blocking(AsyncMemory.work)
    jobs = _blocking(AsyncMemory.jobs)
    job = _blocking(AsyncMemory.job)
    retry_job = _blocking(AsyncMemory.retry_job)
    backup = _blocking(AsyncMemory.backup)
    verify = _blocking(AsyncMemory.verify)
    diagnose = _blocking(AsyncMemory.diagnose)
    reset = _blocking(AsyncMemory.reset)
    add_webhook = _blocking(AsyncMemory.add_webhook)
    webhooks = _blocking(AsyncMemory.webhooks)
    change_webhook = _blocking(AsyncMemory.change_webhook)
    remove_webhook = _blocking(AsyncMemory.remove_webhook)
    create_key = _blocking(AsyncMemory.create_key)
    list_keys = _blocking(AsyncMemory.list_keys)
    revoke_key = _blocking(AsyncMemory.revoke_key)
    note_act = _blocking(AsyncMemory.note_act)
    acts = _blocking(AsyncMemory.acts)
    compact = _blocking(AsyncMemory.compact)
    forget = _blocking(AsyncMemory.forget)

    def session(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        infer: bool = True,
        private: bool = False,
    ) -> Session:
        """A conversation whose last rounds are at hand at once and which is remembered when it ends.

        Args:
            run_id: its name; made up if not given. Two sessions of one name are one conversation.
            infer: what is made of it, as for `add`.
            private: it begins off the record; see `AsyncSession.private`. False leaves it as it is.

        Raises:
            InvalidInputError: an unusable id.
        """
        session = self._memory.session(user_id=user_id, run_id=run_id, agent_id=agent_id, infer=infer, private=private)
        return Session(session, self._run)

    def on(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Calls a function, sync or async, with a `MemoryEvent` whenever this happens through this memory.

        The call that it hears of returns after it. One that fails is logged and stops nobody. A sync one runs in a
        thread of its own and may use this memory; an async one may not, since it runs where the memory does.

        Args:
            topic: `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `memory.accessed` or
                `schedule.daily`.

        Returns:
            What ends it.

        Raises:
            InvalidInputError: an unknown topic, or nothing to call.
        """
        return self._memory.on(topic, in_a_thread(handler))

    def for_tenant(self, tenant: str) -> Self:
        """The same memory for another tenant: the same store and models, and none but that tenant's rows.

        It lives as long as the memory that it came from; closing it closes nothing.

        Raises:
            InvalidInputError: an unusable name.
        """
        view = copy(self)
        vars(view).update(_memory=self._memory.for_tenant(tenant), _is_view=True)
        return view

    def close(self) -> None:
        """Ends running sessions, finishes what was accepted and lets go of files and threads; idempotent.

        What cannot be closed keeps nothing else open; its error is raised at the end.
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

    def _run(self, call: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        if self._closed:
            raise StoreClosedError(_CLOSED)
        return self._loop.run(call())
