"""What every call of the API shares: components, the scope that it means, the events that it publishes, its measure."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from ebbing.domain.errors import EbbingError, InvalidInputError, MemoryNotFoundError
from ebbing.domain.filters.query import Include
from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.pending_extraction import ExtractionFailure, PendingExtraction, WriteMode
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope, checked_tenant
from ebbing.language.text.caches import clear_text_caches
from ebbing.people.profiles import Profiles
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.meter import Measure
from ebbing.ports.models.embedder import RemembersVectors
from ebbing.privacy.redaction.redact import RedactionPolicy
from ebbing.recall.search import SearchDeps
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.remember.intake.write_policy import WritePolicy
from ebbing.remember.reextract import reextract
from ebbing.validation import scoped, zone_of
from ebbing.wiring.build import Components
from ebbing.wiring.config.settings import Settings

_NOT_FOUND: Final = "no memory with this id: check the id and whose it is"


class CallContext:
    """The components of one tenant, and what the services of the API do alike."""

    def __init__(self, components: Components, profiles: Profiles | None = None) -> None:
        self.components = components
        self.store = components.store
        self.clock = components.clock
        self.ids = components.ids
        self.settings = components.settings
        self.tenant = components.settings.tenant
        self.policy = _write_policy(components.settings)
        self.default_include: Include = "memories" if components.settings.is_mem0s else "all"
        """What a search answers with, unless it says so."""
        self.profiles = profiles or Profiles(components.store)
        self._add_deps: AddDeps | None = None
        self._search_deps: SearchDeps | None = None

    def for_tenant(self, tenant: str) -> CallContext:
        """Return a context with the same components for another tenant.

        Raises:
            InvalidInputError: an unusable name.
        """
        return CallContext(self.components.for_tenant(checked_tenant(tenant)), self.profiles)

    async def add_deps(self, mode: WriteMode | None = None, *, change: ChangeSet | None = None) -> AddDeps:
        """Return what a write works with, the embedder loaded.

        Args:
            mode: how messages are read; as the settings say unless given.
            change: the change set that the write belongs to.
        """
        components, deps = self.components, self._add_deps
        chat = components.chat
        embedder, salience = await components.embedder.get(), await components.reader.salience()
        mode = mode or chat.mode
        is_same = deps is not None and deps.embedder is embedder and deps.mode is mode and deps.llm is chat.asking
        if deps is None or not is_same:
            self.store.use_model(embedder)
            deps = AddDeps(
                self.store,
                embedder,
                self.clock,
                self.ids,
                self.policy,
                mode=mode,
                llm=chat.asking,
                zone=zone_of(self.settings.timezone),
                deferred_embedder=components.following if self.settings.defer_embeddings else None,
                salience=salience,
                change_model=await components.reader.change_model(),
                off_record=await components.reader.off_record_model(),
            )
            self._add_deps = deps
        return deps if change is None else replace(deps, store=self.store.within(change))

    async def search_deps(self, *, is_private: bool = False) -> SearchDeps:
        """Return what a search works with; with `is_private` nothing that keeps anything of the question."""
        components, deps = self.components, self._search_deps
        reranking = components.reranker
        embedder, reranker = await components.embedder.get(), await reranking.get()
        reader = await components.reader.get()
        private: object = embedder
        if is_private and isinstance(private, RemembersVectors):
            return replace(await self.search_deps(), embedder=private.forgetful())
        if deps is None or deps.embedder is not embedder or deps.reranker is not reranker:
            self.store.use_model(embedder)
            deps = SearchDeps(
                self.store,
                embedder,
                components.recall_settings,
                reranker,
                reranking.options,
                reader,
                change_model=await components.reader.change_model(),
                candidates=components.vectors.candidates if components.vectors else None,
            )
            self._search_deps = deps
        return deps

    def write_deps(self, change: ChangeSet) -> AddDeps:
        """Return what a write works with that needs neither vectors nor a language model."""
        return AddDeps(self.store.within(change), None, self.clock, self.ids, self.policy)

    async def reextract(self, unread: PendingExtraction) -> ExtractionFailure | None:
        """Read messages that a language model failed to read; return why it failed again, or None."""
        return await reextract(await self.add_deps(change=ChangeSet(Cause.REREAD)), unread)

    def scope(self, *, filters: Mapping[str, Any] | None = None, **ids: str | None) -> Scope:
        """Return the scope of a call whose filters may hold nothing but ids."""
        scope, rest = scoped(filters, tenant=self.tenant, **ids)
        if rest is not EVERYTHING and rest != EVERYTHING:
            raise InvalidInputError("filters of this call may hold user_id, agent_id and run_id only, each one value")
        return scope

    def scope_and_filter(self, *, filters: Mapping[str, Any] | None, **ids: str | None) -> tuple[Scope, Filter]:
        """Return the scope of a call, and what else its filters ask for."""
        return scoped(filters, tenant=self.tenant, **ids)

    async def find_scope(self, memory_id: str, user_id: str | None) -> Scope | None:
        """Return the scope of a memory, or None if there is none of this id, or not this user's.

        Raises:
            InvalidInputError: an id that is no text, or blank.
        """
        if not isinstance(memory_id, str) or not memory_id.strip():
            raise InvalidInputError("memory_id must be a non-empty string")
        user = None if user_id is None else Scope(user_id=user_id).user_id
        if memory_id != clean_text(memory_id):
            return None  # no store could keep such an id
        scope = await self.store.scope_of(self.tenant, memory_id)
        return None if scope is None or (user is not None and scope.user_id != user) else scope

    async def require_scope(self, memory_id: str, user_id: str | None) -> Scope:
        """Return the scope of a memory.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        scope = await self.find_scope(memory_id, user_id)
        if scope is None:
            raise MemoryNotFoundError(_NOT_FOUND)
        return scope

    async def require_record(self, memory_id: str, scope: Scope, *, deleted: bool) -> MemoryRecord:
        """Return a memory.

        Raises:
            MemoryNotFoundError: it is not there any more.
        """
        records = await self.store.get(scope, [memory_id], deleted=deleted)
        if not records:
            raise MemoryNotFoundError(_NOT_FOUND)
        return records[0]

    async def publish(
        self,
        topic: Topic,
        scope: Scope,
        *,
        memory_ids: Iterable[str] = (),
        source_id: str | None = None,
        is_bulk: bool = False,
    ) -> None:
        """Publish an event, unless nobody subscribed or it is about nothing."""
        events = self.components.events
        if not events.is_heard(topic):
            return
        ids = tuple(dict.fromkeys(memory_ids))
        if ids or source_id is not None or is_bulk:
            await events.publish(MemoryEvent(topic, scope, self.clock.now(), ids, source_id, is_bulk))

    async def scrub(self) -> bool:
        """Clear what is cached of texts, in the vector index and the graph server too, and overwrite them on the disk.

        Returns:
            True if no trace is left.
        """
        await self.components.embedder.forget()
        await self.components.reranker.forget()
        self.profiles.let_go()
        clear_text_caches()
        vectors = self.components.vectors
        is_forgotten = vectors is None or await vectors.follower.catch_up()
        graph = self.components.graph
        is_gone_from_graph = graph is None or await graph.catch_up()
        return await self.store.scrub() and is_forgotten and is_gone_from_graph


def _write_policy(settings: Settings) -> WritePolicy:
    key = settings.redaction_key.get_secret_value().encode() if settings.redaction_key else b""
    return WritePolicy(
        redaction=RedactionPolicy(hash_key=key).but(**settings.redaction),
        on_blocked=settings.redaction_blocked,
        confidence_threshold=settings.write_confidence_threshold,
        strict_embeddings=settings.strict_embeddings,
        embedding_seconds=settings.embedding_timeout_seconds,
        importance=settings.importance,
    )


# Calls that a caller waits for: maintenance lets them go first, and a meter counts them.


class Service(Protocol):
    """Part of the API: it holds the context of its calls."""

    _context: CallContext


_Self = TypeVar("_Self", bound=Service)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_Self, _Arguments], Coroutine[Any, Any, _Result]]


def _done(measure: Measure, answer: Any) -> None:
    measure.done(answer)


def measured(
    operation: str, tell: Callable[[Measure, Any], None] = _done
) -> Callable[[_Method[_Self, _Arguments, _Result]], _Method[_Self, _Arguments, _Result]]:
    """Return the method, counted while it runs, so that maintenance lets it go first, and reported to the meter.

    Args:
        tell: reports the result of a call; by default for methods that answer with dicts and lists.
    """

    def wrap(method: _Method[_Self, _Arguments, _Result]) -> _Method[_Self, _Arguments, _Result]:
        @wraps(method)
        async def call(self: _Self, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            meter = self._context.components.meter
            with self._context.components.traffic:
                if not meter.is_on:
                    return await method(self, *args, **kwargs)
                measure = meter.begin(operation)
                try:
                    answer = await method(self, *args, **kwargs)
                except EbbingError as error:
                    measure.failed(error.code)
                    raise
                except BaseException:
                    measure.failed("interrupted")
                    raise
                tell(measure, answer)
                return answer

        return call

    return wrap
