"""The API for code that does not await: the same methods, each returning when it is done."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

import anyio.to_thread

from ebbing.api.admin.api_keys import ApiKeysApi
from ebbing.api.admin.audit import AuditApi
from ebbing.api.assistant.assistant import AssistantApi
from ebbing.api.events.webhooks import WebhooksApi
from ebbing.api.forgetting.changes import ChangesApi
from ebbing.api.forgetting.reviews import ReviewsApi
from ebbing.api.overview.overview import OverviewApi
from ebbing.api.people.identities import IdentitiesApi
from ebbing.api.people.profiles import ProfilesApi
from ebbing.api.sessions.session import AsyncSession
from ebbing.api.upkeep.jobs import JobsApi
from ebbing.api.upkeep.maintenance import MaintenanceApi
from ebbing.domain.errors import InvalidInputError, StoreClosedError
from ebbing.ports.event_bus import Handler, MemoryEvent

_Service = TypeVar("_Service")
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class Run(Protocol):
    """Runs a coroutine to its end on the memory's loop."""

    def __call__(self, call: Callable[[], Coroutine[Any, Any, _Answer]], /) -> _Answer:
        """Return what it returns, or raise what it raises."""
        ...


class Blocking(Generic[_Service]):
    """A service whose methods return when they are done."""

    def __init__(self, service: _Service, run: Run) -> None:
        self._service, self._run = service, run


def blocking(
    method: Callable[Concatenate[_Service, _Arguments], Coroutine[Any, Any, _Answer]],
) -> Callable[Concatenate[Blocking[_Service], _Arguments], _Answer]:
    """Return the method with the same arguments and documentation, to be called without `await`."""

    def call(self: Blocking[_Service], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        return self._run(partial(method, self._service, *args, **kwargs))

    update_wrapper(call, method)
    return call


# The namespaces of `Memory`: those of `AsyncMemory`, for code that does not await.


class BlockingProfilesApi(Blocking[ProfilesApi]):
    """`memory.profiles`: what is known of an owner in short, from memories and by hand."""

    get = blocking(ProfilesApi.get)
    rebuild = blocking(ProfilesApi.rebuild)
    update = blocking(ProfilesApi.update)
    import_ = blocking(ProfilesApi.import_)
    set_defaults = blocking(ProfilesApi.set_defaults)
    suggest_questions = blocking(ProfilesApi.suggest_questions)


class BlockingIdentitiesApi(Blocking[IdentitiesApi]):
    """`memory.identities`: who comes from which channel, and which users are the same person."""

    resolve = blocking(IdentitiesApi.resolve)
    link = blocking(IdentitiesApi.link)
    unlink = blocking(IdentitiesApi.unlink)
    list = blocking(IdentitiesApi.list)
    merge = blocking(IdentitiesApi.merge)
    unmerge = blocking(IdentitiesApi.unmerge)
    list_merges = blocking(IdentitiesApi.list_merges)


class BlockingAssistantApi(Blocking[AssistantApi]):
    """`memory.assistant`: when to recall unasked, who answers, what is offered, and how it is said."""

    recall = blocking(AssistantApi.recall)
    route = blocking(AssistantApi.route)
    rank = blocking(AssistantApi.rank)
    style = blocking(AssistantApi.style)


class BlockingChangesApi(Blocking[ChangesApi]):
    """`memory.changes`: what was written about an owner."""

    list = blocking(ChangesApi.list)


class BlockingOverviewApi(Blocking[OverviewApi]):
    """`memory.overview`: for people who look into a memory. It changes nothing, and counts as no use."""

    owners = blocking(OverviewApi.owners)
    memories = blocking(OverviewApi.memories)
    facets = blocking(OverviewApi.facets)
    content = blocking(OverviewApi.content)
    retention = blocking(OverviewApi.retention)
    neighbours = blocking(OverviewApi.neighbours)
    timeline = blocking(OverviewApi.timeline)
    differences = blocking(OverviewApi.differences)
    forecast = blocking(OverviewApi.forecast)
    ask = blocking(OverviewApi.ask)


class BlockingReviewsApi(Blocking[ReviewsApi]):
    """`memory.reviews`: what waits for the decision of a person."""

    list = blocking(ReviewsApi.list)
    resolve = blocking(ReviewsApi.resolve)


class BlockingMaintenanceApi(Blocking[MaintenanceApi]):
    """`memory.maintenance`: work that no caller waits for, and the state of the store."""

    run = blocking(MaintenanceApi.run)
    merge_duplicates = blocking(MaintenanceApi.merge_duplicates)
    derive_habits = blocking(MaintenanceApi.derive_habits)
    apply_forgetting = blocking(MaintenanceApi.apply_forgetting)
    split_merged = blocking(MaintenanceApi.split_merged)
    delete_memories = blocking(MaintenanceApi.delete_memories)
    retry_failed_extractions = blocking(MaintenanceApi.retry_failed_extractions)
    list_owners = blocking(MaintenanceApi.list_owners)
    stats = blocking(MaintenanceApi.stats)
    backup = blocking(MaintenanceApi.backup)
    verify = blocking(MaintenanceApi.verify)
    diagnose = blocking(MaintenanceApi.diagnose)
    vacuum = blocking(MaintenanceApi.vacuum)


class BlockingJobsApi(Blocking[JobsApi]):
    """`memory.jobs`: the queue, and the worker."""

    run_worker = blocking(JobsApi.run_worker)
    list = blocking(JobsApi.list)
    get = blocking(JobsApi.get)
    retry = blocking(JobsApi.retry)


class BlockingWebhooksApi(Blocking[WebhooksApi]):
    """`memory.webhooks`: addresses that are told of the events of this tenant."""

    create = blocking(WebhooksApi.create)
    list = blocking(WebhooksApi.list)
    update = blocking(WebhooksApi.update)
    delete = blocking(WebhooksApi.delete)


class BlockingApiKeysApi(Blocking[ApiKeysApi]):
    """`memory.api_keys`: the keys that open the service for this tenant."""

    create = blocking(ApiKeysApi.create)
    list = blocking(ApiKeysApi.list)
    revoke = blocking(ApiKeysApi.revoke)


class BlockingAuditApi(Blocking[AuditApi]):
    """`memory.audit`: who administered what in this tenant."""

    record = blocking(AuditApi.record)
    list = blocking(AuditApi.list)


# Handlers of events for code that does not await.


def in_a_thread(handler: Handler) -> Handler:
    """Return the handler, off the event loop, so that it may block and use the blocking memory; an async one as it is.

    Raises:
        InvalidInputError: it cannot be called.
    """
    if not callable(handler):
        raise InvalidInputError("handler must be a function that takes what happened")
    if inspect.iscoroutinefunction(handler):
        return handler

    async def call(event: MemoryEvent) -> None:
        answer: Awaitable[None] | None = await anyio.to_thread.run_sync(partial(handler, event))
        if answer is not None:
            await answer

    return call


# The same session for code that does not await.


class Session(Blocking[AsyncSession]):
    """One conversation; made by `Memory.session`. The blocking twin of `AsyncSession`."""

    @property
    def run_id(self) -> str:
        """The name of the conversation, made up where none was given."""
        return self._service.run_id

    @property
    def private(self) -> bool:
        """Whether the conversation is off the record; see `AsyncSession.private`."""
        return self._service.private

    @private.setter
    def private(self, is_private: bool) -> None:
        self._service.private = is_private

    add = blocking(AsyncSession.add)
    messages = blocking(AsyncSession.messages)
    holds_private = blocking(AsyncSession.holds_private)
    search = blocking(AsyncSession.search)
    get_context = blocking(AsyncSession.get_context)
    end = blocking(AsyncSession.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(StoreClosedError):  # closing the memory has ended the session
            self.end()
