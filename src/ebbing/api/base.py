"""What every part of the façade shares: the components it works with, and whose memory a call means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.pending_extraction import Failed, Unread, WriteMode
from ebbing.domain.memory.scope import Scope, checked_tenant
from ebbing.language.text.caches import let_go
from ebbing.people.profiles import Profiles
from ebbing.ports.embedder import RemembersVectors
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.privacy.redaction.redact import RedactionPolicy
from ebbing.recall.search import Searching
from ebbing.remember.add import Remembering
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.remember.intake.write_policy import WritePolicy
from ebbing.remember.reextract import read_again
from ebbing.validation import checked_timezone, scoped
from ebbing.wiring.build import Components
from ebbing.wiring.config.settings import Settings


class Facade:
    """Holds the components; knows how to find the owner of a call."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._policy = _write_policy(components.settings)
        self._profiles = Profiles(components.store)
        self._is_view = False
        """It shares the components of another memory, which closes them."""
        self._way_in: Remembering | None = None
        self._way_out: Searching | None = None

    @property
    def components(self) -> Components:
        """What this memory is made of."""
        return self._components

    def for_tenant(self, tenant: str) -> Self:
        """The same memory for another tenant: the same store and models, and none but that tenant's rows.

        It lives as long as the memory that it came from; closing it closes nothing.

        Raises:
            InvalidInputError: an unusable name.
        """
        view = copy(self)
        vars(view).update(_components=self._components.for_tenant(checked_tenant(tenant)), _is_view=True)
        return view

    async def _using(self, mode: WriteMode | None = None, *, change: ChangeSet | None = None) -> Remembering:
        """Return the dependencies of a write, with the embedder loaded, for this mode or that of the settings.

        What is written with them belongs to `change`.
        """
        components, made = self._components, self._way_in
        chat = components.chat
        embedder, mode = await components.embedder.get(), mode or chat.mode
        if made is None or made.embedder is not embedder or made.mode is not mode or made.asking is not chat.asking:
            components.store.use_model(embedder)
            made = Remembering(
                components.store,
                embedder,
                components.clock,
                components.ids,
                self._policy,
                mode=mode,
                asking=chat.asking,
                zone=checked_timezone(None, components.settings.timezone),
                following=components.following if components.settings.vectors_may_follow else None,
            )
            self._way_in = made
        return made if change is None else replace(made, store=components.store.within(change))

    async def _read_again(self, unread: Unread) -> Failed | None:
        """Reads messages that a language model had failed to read; why it failed again, or None."""
        return await read_again(await self._using(change=ChangeSet(Cause.REREAD)), unread)

    async def _searching(self, *, is_private: bool = False) -> Searching:
        """The components of the way out; with `is_private` none of them keeps anything of the question."""
        components = self._components
        embedder, reranker = await components.embedder.get(), await components.reranker.get()
        remembers: object = embedder
        if is_private and isinstance(remembers, RemembersVectors):
            return Searching(
                components.store, remembers.forgetful(), components.recall_settings, reranker, components.reranker.how
            )
        made = self._way_out
        if made is None or made.embedder is not embedder or made.reranker is not reranker:
            components.store.use_model(embedder)
            made = Searching(components.store, embedder, components.recall_settings, reranker, components.reranker.how)
            self._way_out = made
        return made

    def _writing(self, change: ChangeSet) -> Remembering:
        """The components of the way in for what needs neither vectors nor a language model."""
        store = self._components.store.within(change)
        return Remembering(store, None, self._components.clock, self._components.ids, self._policy)

    def _scope(self, *, filters: Mapping[str, Any] | None, **ids: str | None) -> Scope:
        """Whose memory a call means that takes no other filters than ids."""
        scope, rest = scoped(filters, tenant=self._components.settings.tenant, **ids)
        if rest is not EVERYTHING and rest != EVERYTHING:
            raise InvalidInputError("filters of this call may hold user_id, agent_id and run_id only, each one value")
        return scope

    def _narrowed(self, *, filters: Mapping[str, Any] | None, **ids: str | None) -> tuple[Scope, Filter]:
        """Whose memory a call means, and what else its filters ask for."""
        return scoped(filters, tenant=self._components.settings.tenant, **ids)

    async def _scope_of(self, memory_id: str, user_id: str | None) -> Scope | None:
        if not isinstance(memory_id, str) or not memory_id.strip():
            raise InvalidInputError("memory_id must be a non-empty string")
        user = None if user_id is None else Scope(user_id=user_id).user_id
        if memory_id != clean_text(memory_id):
            return None  # no store could keep such an id
        scope = await self._components.store.scope_of(self._components.settings.tenant, memory_id)
        return None if scope is None or (user is not None and scope.user_id != user) else scope

    async def _known_scope(self, memory_id: str, user_id: str | None) -> Scope:
        scope = await self._scope_of(memory_id, user_id)
        if scope is None:
            raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
        return scope

    async def _announce(
        self,
        topic: Topic,
        scope: Scope,
        *,
        memory_ids: Iterable[str] = (),
        source_id: str | None = None,
        is_bulk: bool = False,
    ) -> None:
        """Tells those who listen; nothing is put together where nobody does, and nothing told of no memory."""
        if not self._components.events.is_heard(topic):
            return
        ids = tuple(dict.fromkeys(memory_ids))
        if ids or source_id is not None or is_bulk:
            happening = MemoryEvent(topic, scope, self._components.clock.now(), ids, source_id, is_bulk)
            await self._components.events.publish(happening)

    async def _scrubbed(self) -> bool:
        """Lets go of what is kept of texts beside the store, and makes sure of the disk; whether nothing is left."""
        await self._components.embedder.forget()
        await self._components.reranker.forget()
        self._profiles.let_go()
        let_go()
        return await self._components.store.scrub()


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
