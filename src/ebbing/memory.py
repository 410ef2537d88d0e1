"""The façade: every method checks its words, finds out whose memory is meant, and hands over to one use case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ebbing.arguments import MAX_TOP_K, checked_limit, checked_metadata, checked_query, checked_records, kinds_of
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.query import Include, Query
from ebbing.domain.record import Kind
from ebbing.domain.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.recall.search import search
from ebbing.recall.tuning import Tuning
from ebbing.remember.add import Remembering, add_extracted, add_raw
from ebbing.remember.bring_back import bring_back
from ebbing.remember.messages import parse_messages, parse_time
from ebbing.remember.revise import delete, restore, update
from ebbing.shapes import Item, add_answer, answer, explained_item, history_item, hit_item, memory_item
from ebbing.transfer.portable import line_from_record
from ebbing.wiring.build import Parts, build, settings_from_config
from ebbing.wiring.diagnose import diagnose

_IDS: Final = {
    "user_id": "user_id",
    "agent_id": "agent_id",
    "run_id": "run_id",
    "userId": "user_id",
    "agentId": "agent_id",
    "runId": "run_id",
}


class AsyncMemory:
    """A person's long-term memory, in one directory, with nothing but this package.

    Every call names whose memory is meant by `user_id`, `agent_id` or `run_id` (directly or inside `filters`); a
    memory that names a user belongs to the user. Safe to use from many tasks; several processes may share a path.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        tuning: Tuning | None = None,
        parts: Parts | None = None,
    ) -> None:
        """Opens the memory at `path` (default: `EBBING_PATH`, else `./ebbing-data`); the model loads on first use.

        Args:
            path: directory of the store; made if it does not exist.
            embedder: `auto`, `e5`, `use`, `openai`, `none`, or an object with the `Embedder` port.
            clock: the source of "now"; the system's unless a test or a simulation gives one.
            tuning: the numbers that recall runs on.
            parts: everything at once, made by `ebbing.wiring.build`.

        Raises:
            ConfigurationError: a setting is wrong.
            StoreError: the store cannot be opened.
        """
        self._parts = parts or build(path=path, embedder=embedder, clock=clock, tuning=tuning)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, clock: Clock | None = None) -> Self:
        """A memory for a config in our settings' names or in mem0's shape.

        Raises:
            ConfigurationError: a key is unknown or a value does not fit.
        """
        return cls(parts=build(settings_from_config(config), clock=clock))

    @classmethod
    def from_env(cls) -> Self:
        """A memory for what the environment says (`EBBING_*`).

        Raises:
            ConfigurationError: a value does not fit.
        """
        return cls()

    @property
    def parts(self) -> Parts:
        """What this memory is made of."""
        return self._parts

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        filters: Mapping[str, Any] | None = None,
    ) -> Any:
        """Remembers what a conversation says.

        Args:
            messages: a string, a message dict (`role`, `content`, optional `id`, `name`, `timestamp`), or a list.
            infer: True keeps the messages as episodes and what is worth keeping as memories; False stores each
                message as a memory, as it is.
            metadata: JSON values kept with every record of the call.

        Returns:
            `{"results": [{"id", "memory", "event", "reason", …}], "episode_ids": […]}`; `event` is `ADD`, or `NONE`
            where it was known already.

        Raises:
            InvalidInputError: unusable messages or metadata, or no owner.
            TooLargeError: a message over 100,000 characters or metadata over 64 KiB.
            StoreError: it could not be stored; nothing was.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        parsed = parse_messages(messages)
        step = add_extracted if infer else add_raw
        remembered = await step(await self._using(), parsed, scope=scope, metadata=checked_metadata(metadata))
        return add_answer(remembered, self._parts.settings.api_version)

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 5,
        include: Include = "all",
        reference_date: datetime | str | float | None = None,
    ) -> Any:
        """The memories and episodes that answer a question, best first.

        Args:
            query: the question, in any language; cut after 4,000 characters.
            top_k: how many at most, 1 to 50; more is treated as 50.
            include: `all`, `memories` or `episodes`.
            reference_date: the "now" that words like "yesterday" mean; the clock's unless given.

        Returns:
            `{"results": [{"id", "memory", "score", "kind", "source_ids", …}]}`, `score` in [0, 1].

        Raises:
            InvalidInputError: a blank query, a `top_k` below 1, an unknown `include`, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        asked = checked_query(query, top_k, include=include)
        now = self._parts.clock.now() if reference_date is None else parse_time(reference_date, "reference_date")
        hits = await search(
            self._parts.store,
            (await self._using()).embedder,
            scope=scope,
            query=Query(asked, min(top_k, MAX_TOP_K), now, include),
            tuning=self._parts.tuning,
        )
        return answer(map(hit_item, hits), self._parts.settings.api_version)

    async def get(self, memory_id: str, *, user_id: str | None = None) -> Item | None:
        """The memory with this id, or None; with `user_id`, only if it is that user's."""
        scope = await self._scope_of(memory_id, user_id)
        found = await self._parts.store.get(scope, [memory_id]) if scope else []
        return memory_item(found[0]) if found else None

    async def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
        cursor: str | None = None,
        include: Include = "memories",
    ) -> Any:
        """Memories, the newest first.

        Args:
            limit: how many at most, 1 to 1,000.
            cursor: `next_cursor` of the page before.

        Returns:
            `{"results": […], "next_cursor": str | None}`.

        Raises:
            InvalidInputError: a limit out of range, a foreign cursor, an unknown `include`, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        page = await self._parts.store.page(scope, kinds=kinds_of(include), limit=checked_limit(limit), cursor=cursor)
        items = map(memory_item, page.records)
        return answer(items, self._parts.settings.api_version, next_cursor=page.next_cursor)

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        user_id: str | None = None,
    ) -> Item:
        """Gives a memory another text, other metadata, or both; returns it.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: nothing to change, or a blank text.
            TooLargeError: a text over 4,000 characters or metadata over 64 KiB.
        """
        scope = await self._known_scope(memory_id, user_id)
        values = None if metadata is None else checked_metadata(metadata)
        using = await self._using()
        return memory_item(await update(using, memory_id, scope=scope, text=text, metadata=values))

    async def delete(
        self, memory_id: str, *, reason: str | None = None, hard: bool = False, user_id: str | None = None
    ) -> Item:
        """Takes a memory out of every answer. It can be restored, unless `hard`.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        scope = await self._known_scope(memory_id, user_id)
        await delete(await self._writing(), memory_id, scope=scope, reason=reason, hard=hard)
        return {"message": "Memory deleted successfully!"}

    async def restore(self, memory_id: str, *, user_id: str | None = None) -> Item:
        """Brings a deleted memory back and returns it.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: it is not deleted.
        """
        scope = await self._known_scope(memory_id, user_id)
        return memory_item(await restore(await self._writing(), memory_id, scope=scope))

    async def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Item:
        """Erases everything of a user, agent or run for good: memories, episodes, history, index.

        Returns:
            `{"message", "deleted": {"memories", "episodes", "history", "index_entries"}}`, the counts of what went.

        Raises:
            MissingOwnerError: no owner; to erase everybody's, `reset`.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        receipt = await self._parts.store.erase(scope)
        counts = {name: getattr(receipt, name) for name in receipt.__slots__}
        return {"message": "Memories deleted successfully!", "deleted": counts}

    async def history(self, memory_id: str, *, user_id: str | None = None) -> list[Item]:
        """What happened to a memory, oldest first; empty for an unknown id."""
        scope = await self._scope_of(memory_id, user_id)
        return [] if scope is None else [*map(history_item, await self._parts.store.history(scope, memory_id))]

    async def explain(self, memory_id: str, *, user_id: str | None = None) -> Item:
        """Why a memory is kept: the item with its `provenance`, every decision about it, and whether it is deleted.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        scope = await self._known_scope(memory_id, user_id)
        found = await self._parts.store.get(scope, [memory_id], deleted=True)
        if not found:
            raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
        return explained_item(found[0], await self._parts.store.history(scope, memory_id))

    async def export(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 1_000,
        cursor: str | None = None,
    ) -> Item:
        """Everything that is kept, with every field, newest first: memories, episodes, what is superseded or deleted.

        Returns:
            `{"records": […], "next_cursor": str | None}`; each record is a dict of JSON values for `import_`.

        Raises:
            InvalidInputError: a limit outside 1 to 1,000, a foreign cursor, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        page = await self._parts.store.page(
            scope, kinds=tuple(Kind), limit=checked_limit(limit), cursor=cursor, deleted=True
        )
        return {"records": [*map(line_from_record, page.records)], "next_cursor": page.next_cursor}

    async def import_(self, records: Sequence[Mapping[str, Any]], *, user_id: str | None = None) -> Item:
        """Stores exported records with everything they hold; what is here already stays as it is.

        Args:
            records: as `export` gives them, at most 10,000 a call; a bad one is refused and never stops the others.
            user_id: whose they become; without it they stay whose they were.

        Returns:
            `{"imported": int, "known": int, "refused": [{"record": place in the call from 0, "reason"}]}`.

        Raises:
            InvalidInputError: `records` is no list.
            TooLargeError: more than 10,000 records.
            StoreError: they could not be stored.
        """
        lines = checked_records(records)
        done = await bring_back(await self._using(), lines, tenant=self._parts.settings.tenant, user_id=user_id)
        refused = [{"record": place, "reason": reason} for place, reason in sorted(done.refused.items())]
        return {"imported": done.imported, "known": done.known, "refused": refused}

    async def stats(self) -> Item:
        """How much is kept: `owners, memories, episodes, deleted, bytes_on_disk, by_layer, by_type`."""
        counts = asdict(await self._parts.store.stats(self._parts.settings.tenant))
        del counts["without_vector"]  # depends on the embedder, which this does not load: `diagnose` knows
        return counts

    async def verify(self) -> list[str]:
        """Compares every index with what it was made from; each finding is a sentence. Empty is well."""
        return await self._parts.store.verify()

    async def diagnose(self) -> Item:
        """What is on, what is off and why: `{"findings": [{"part", "state", "detail"}], "stats", "settings"}`."""
        return await diagnose(self._parts)

    async def reset(self) -> Item:
        """Erases everything of this memory's tenant for good."""
        await self._parts.store.reset(self._parts.settings.tenant)
        return {"message": "Memory reset successfully!"}

    async def close(self) -> None:
        """Finishes what was accepted and lets go of files and threads; idempotent."""
        await self._parts.store.aclose()
        await self._parts.embedder.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _using(self) -> Remembering:
        """The parts of the way in, with the embedder loaded."""
        embedder = await self._parts.embedder.get()
        self._parts.store.use_model(embedder)
        return Remembering(self._parts.store, embedder, self._parts.clock, self._parts.ids)

    async def _writing(self) -> Remembering:
        """The parts of the way in for what needs no vectors."""
        return Remembering(self._parts.store, None, self._parts.clock, self._parts.ids)

    def _scope(self, *, filters: Mapping[str, Any] | None, **ids: str | None) -> Scope:
        named = {name: value for name, value in ids.items() if value is not None}
        for key, value in (filters or {}).items():
            name = _IDS.get(key)
            if name is None:
                raise InvalidInputError(f"filters: unknown key {key[:40]!r}; known are user_id, agent_id and run_id")
            if named.setdefault(name, value) != value:
                raise InvalidInputError(f"{name} differs between the argument and filters")
        return Scope(**named, tenant=self._parts.settings.tenant)

    async def _scope_of(self, memory_id: str, user_id: str | None) -> Scope | None:
        if not isinstance(memory_id, str) or not memory_id.strip():
            raise InvalidInputError("memory_id must be a non-empty string")
        scope = await self._parts.store.scope_of(self._parts.settings.tenant, memory_id)
        return None if scope is None or (user_id is not None and scope.user_id != user_id) else scope

    async def _known_scope(self, memory_id: str, user_id: str | None) -> Scope:
        scope = await self._scope_of(memory_id, user_id)
        if scope is None:
            raise MemoryNotFoundError("no memory with this id: check the id and whose it is")
        return scope
