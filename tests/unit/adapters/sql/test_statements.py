"""Every statement about memories names tenant and owner, so that the tables can be spread over many servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event

from ebbing.adapters.sql.store import SqlMemoryStore
from ebbing.adapters.sql.tables.conditions import REACH
from ebbing.adapters.sql.tables.owner_tables import OWNER_TABLES
from ebbing.adapters.sql.tables.service_tables import TENANT_TABLES
from ebbing.adapters.sql.tables.session_tables import SESSION_TABLES
from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.profile import ProfileEdit, Section, Snapshot
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Erase, MemoryStore, Reindex, Revise
from ebbing.ports.stores.usage_log import Returned
from ebbing.ports.working_memory import Turn
from ebbing.testing.clock import ManualClock
from ebbing.testing.stores.case import ADA, BOB, StoreCase
from tests.servers import empty_store, needs

REACHING: Final = {
    "service: an id is taken once, by whomever",
    "service: a model is the same for everybody",
    "service: the tenants are listed",
    "service: everything is checked",
    "service: changes are followed in order",
    "tenant: it is asked whose a memory is",
    "tenant: it is asked whose a change set is",
    "tenant: its rows are counted",
    "tenant: its owners are listed",
    "tenant: its shares are listed",
    "tenant: everybody of it is erased",
    "tenant: its sessions are listed",
    "tenant: what is on its way into the store is looked for",
    "service: so many sessions are open, of everybody",
    "service: forgotten sessions are ended, of everybody",
    "service: notes of processes that have died are dropped",
}
"""What is not about one owner, by nature."""
OWNED: Final = {table.name for table in (*OWNER_TABLES, *SESSION_TABLES)}
OF_TENANT: Final = {table.name for table in TENANT_TABLES} - {"request"}


@contextmanager
def recorded() -> Iterator[list[tuple[str, str | None]]]:
    """The statements that are run, each with what it says of its reach."""
    statements: list[tuple[str, str | None]] = []

    def note(_db: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: bool) -> None:
        statements.append((statement, context.execution_options.get(REACH) if context else None))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def tables_of(statement: str) -> set[str]:
    """The tables that a statement reads or writes."""
    return set(re.findall(r'(?:FROM|JOIN|INTO|UPDATE)\s+"?(\w+)"?', statement)) & (OWNED | OF_TENANT)


def names_of_key(statement: str, table: str, column: str) -> bool:
    """Whether a statement binds, or joins, a column of a table's key."""
    if re.match(r"\s*INSERT", statement) and re.search(rf'INTO "?{table}"?\s*\([^)]*\b{column}\b', statement):
        return True
    return bool(re.search(rf'(?:\b{table}\.|"{table}"\.){column}\s*=|=\s*"?{table}"?\.{column}\b', statement))


@needs("postgres")
@pytest.mark.extended
class TestStatements(StoreCase):
    @pytest.fixture
    async def store(self) -> Any:
        self.clock, self.ids, self.embedder = ManualClock(), *_ids_and_embedder()
        async with empty_store("postgres", self.clock) as store:
            store.use_model(self.embedder)
            self.opened = store
            yield store

    async def live(self, store: MemoryStore) -> None:
        """A life of a store in which every kind of statement occurs."""
        monday = Scope(user_id="ada", run_id="monday")
        tea, rain = await self.stored(ADA, "tea", source="m1"), await self.stored(monday, "rain")
        await store.write(ADA, [self.insert(self.record(ADA, "tea", source="m1"), once=True)])
        reworded = self.revise(tea, Event.UPDATE, content="coffee")
        await store.write(ADA, [reworded])
        await store.write(ADA, [Reindex(tea.id, 2, self.entry(reworded.record))])
        await store.write(ADA, [Revise(replace(rain, version=2), Event.NONE, adds_flags=1, drops_vector=True)])
        await store.usage.returned([Returned(ADA.owner, tea.id, 1, self.clock.now())])
        await store.usage.tell(ADA, Feedback(tea.id, Signal.USED, "r1", self.clock.now()))
        assert store.outbox is not None
        await store.outbox.register("index")
        await store.profiles.edit(ADA, [ProfileEdit("home", Section.FACTS, "home", self.clock.now(), tea.id)])
        portrait, now = await store.profiles.read(ADA), self.clock.now()
        await store.profiles.keep(ADA, Snapshot(1, 1, now, now, 0), seen=portrait.revision)
        await store.set_mark(ADA, "merge", value=1)
        for deleted in (False, True):
            await store.shard(ADA, deleted=deleted)
            await store.get(ADA, [tea.id], deleted=deleted)
            await store.page(ADA, deleted=deleted, at=None if deleted else self.clock.now())
        await self.read(store, tea.id)
        await self.stored(BOB, "jam")
        await store.identities.link("default", "web", channel_user_id="x", unified_id="bob", at=self.clock.now())
        merge = await store.identities.merge("default", "ada", gone="bob", at=self.clock.now())
        await store.identities.undo("default", merge.id, at=self.clock.now())
        await store.change_log.trim(ADA, before=self.clock.advance(timedelta(days=1)))
        await store.write(ADA, [Erase(tea.id)])
        await store.outbox.standing("index", ADA.owner, limit=9)
        await store.outbox.advance("index", (await store.outbox.read("index"))[-1].seq)
        await self.talk(store)
        await store.stats("default")
        await store.verify()
        await store.erase(monday)
        await store.reset("default")
        await store.outbox.unregister("index")

    async def talk(self, store: MemoryStore) -> None:
        """A conversation, in which every kind of statement about sessions occurs."""
        assert isinstance(store, SqlMemoryStore)
        working = store.working_memory(self.ids, most_tokens=100)
        turns = [Turn(Message(text, id=text[:1]), 1) for text in ("tea", "rain", "toast")]
        for turn in turns:
            await working.append(ADA, turn)
        note = await working.begin_storing(ADA)
        for within in (None, ADA, "default"):
            await working.sessions(within=within, idle_since=self.clock.now())
            await working.is_storing(within or ADA)
        await working.touch(ADA)
        await working.set_private(ADA, await working.is_private(ADA))
        await working.set_private(ADA, True)
        await working.end_storing(ADA, note)
        await working.drop(ADA, turns[1:2])
        await working.drop(ADA, await working.read(ADA))

    async def read(self, store: MemoryStore, memory_id: str) -> None:
        """Every question that a store answers."""
        await store.from_sources(ADA, ["m1"])
        await store.history(ADA, memory_id)
        await store.histories(ADA, changed_after=self.clock.now())
        await store.telling(ADA, [memory_id])
        await store.mark(ADA, "merge")
        await store.outdated(ADA)
        await store.scope_of("default", memory_id)
        await store.taken([memory_id])
        await store.owners("default")
        await store.shares("default")
        await store.tenants()
        await store.usage.usage(ADA, memory_id)
        await store.profiles.read(ADA)
        page = await store.change_log.page(ADA)
        for change in page.changes:
            await store.change_log.get(ADA, change.id)
            await store.change_log.records(ADA, change.id)
            await store.change_log.scope_of("default", change.id)
        await store.change_log.undoings(ADA)
        await store.change_log.of_memory(ADA, memory_id)
        await store.vector_length(self.embedder.model_id)

    async def test_every_statement_about_memories_names_tenant_and_owner(self, store: MemoryStore) -> None:
        with recorded() as statements:
            await self.live(store)
        assert len(statements) > 150
        forgetful = {
            (table, column, statement)
            for statement, reach in statements
            for table in tables_of(statement) & OWNED
            for column in ("tenant", "owner")
            if reach is None and not names_of_key(statement, table, column)
        }
        assert forgetful == set()

    async def test_what_reaches_beyond_an_owner_is_known_and_names_its_tenant(self, store: MemoryStore) -> None:
        with recorded() as statements:
            await self.live(store)
        reaching = {(statement, reach) for statement, reach in statements if reach and tables_of(statement) & OWNED}
        assert {reach for _, reach in reaching} <= REACHING
        assert all("tenant =" in statement for statement, reach in reaching if reach.startswith("tenant"))

    def test_every_key_of_an_owners_table_begins_with_tenant_and_owner(self) -> None:
        for table in (*OWNER_TABLES, *SESSION_TABLES):
            assert [column.name for column in table.primary_key][:2] == ["tenant", "owner"]
            assert all(
                [c.name for c in index.columns][:2] == ["tenant", "owner"] for index in table.indexes if index.unique
            )


def _ids_and_embedder() -> tuple[Any, Any]:
    from ebbing.testing.ids import SequentialIds
    from ebbing.testing.models.embedder import FakeEmbedder

    return SequentialIds(), FakeEmbedder(16)
