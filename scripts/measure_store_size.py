"""Rows and bytes per memory on a store, table by table, with their indexes.

    PYTHONPATH=. python scripts/measure_store_size.py
    PYTHONPATH=. python scripts/measure_store_size.py --store postgresql://ada@127.0.0.1/measured

Each text of 10 to 60 words, half English and half Chinese, is stored by an `add` of its own, with a vector of 384
numbers as the default model has. The vectors are drawn, so that no model is waited for. The database must be empty, and
is left full.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, create_engine, inspect, text

from ebbing import AsyncMemory
from ebbing.adapters.sql.connection.addresses import address_of, with_driver
from ebbing.wiring.build import build, load_settings
from evals.speed.population import ConstantEmbedder, User, population

WRITERS: Final = 8
_POSTGRES: Final = "SELECT pg_table_size(:name), pg_indexes_size(:name)"
_MARIADB: Final = (
    "SELECT data_length, index_length FROM information_schema.tables"
    " WHERE table_schema = database() AND table_name = :name"
)
_SQLITE: Final = (
    "SELECT sum(pgsize * (name = :name)), sum(pgsize * (name <> :name)) FROM dbstat WHERE name IN"
    " (SELECT name FROM sqlite_master WHERE tbl_name = :name)"
)


@dataclass(frozen=True, slots=True)
class TableSize:
    """What a table takes."""

    name: str
    rows: int
    data_bytes: int
    index_bytes: int


async def fill(memory: AsyncMemory, users: Sequence[User]) -> None:
    """Store every text, for some users at a time."""
    waiting = iter(users)

    async def write() -> None:
        for user in waiting:
            for words in user.texts:
                await memory.add(words, user_id=user.name, infer=False)

    await asyncio.gather(*(write() for _ in range(WRITERS)))


def sizes_on_server(address: str) -> list[TableSize]:
    """Return what each table takes once the server has counted its rows."""
    url = with_driver(address_of(address), blocking=True)
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        found = list(_measured(db, is_postgres=url.get_backend_name() == "postgresql"))
    engine.dispose()
    return found


def _measured(db: Connection, *, is_postgres: bool) -> Iterator[TableSize]:
    quoted = db.dialect.identifier_preparer.quote
    for name in inspect(db).get_table_names():
        db.execute(text(f"VACUUM ANALYZE {quoted(name)}" if is_postgres else f"ANALYZE TABLE {quoted(name)}"))
        rows = int(db.execute(text(f"SELECT count(*) FROM {quoted(name)}")).scalar_one())
        data, index = db.execute(text(_POSTGRES if is_postgres else _MARIADB), {"name": name}).one()
        yield TableSize(name, rows, int(data), int(index))


def sizes_in_file(path: Path) -> list[TableSize]:
    """Return what each table of the embedded store takes."""
    db = sqlite3.connect(path / "ebbing.db")
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = []
    for name in names:
        rows = int(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])
        data, index = db.execute(_SQLITE, {"name": name}).fetchone()
        found.append(TableSize(name, rows, int(data or 0), int(index or 0)))
    db.close()
    return found


def report(sizes: Sequence[TableSize], *, memories: int) -> None:
    """Print a table, the largest first, all per memory."""
    print("| table | rows | bytes | of these indexes |")
    print("| --- | ---: | ---: | ---: |")
    for size in sorted(sizes, key=lambda size: -size.data_bytes - size.index_bytes):
        whole = (size.data_bytes + size.index_bytes) / memories
        if size.rows and whole >= 1:
            print(row(f"`{size.name}`", size.rows / memories, whole=whole, index=size.index_bytes / memories))
    rows = sum(size.rows for size in sizes)
    index = sum(size.index_bytes for size in sizes)
    whole = sum(size.data_bytes for size in sizes) + index
    print(row("all", rows / memories, whole=whole / memories, index=index / memories))


def row(name: str, rows: float, *, whole: float, index: float) -> str:
    """Return a row of the table."""
    return f"| {name} | {rows:.2f} | {whole:,.0f} | {index:,.0f} |"


async def main() -> None:
    """Fill a store and measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="address of an empty database; the embedded store unless given")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=100)
    options = parser.parse_args()
    users = population(options.memories, options.users)
    with tempfile.TemporaryDirectory() as folder:
        place = {"store": options.store} if options.store else {"path": Path(folder)}
        settings = load_settings({**place, "reader": "off"})
        began, spent = time.perf_counter(), time.process_time()
        async with AsyncMemory(components=build(settings, embedder=ConstantEmbedder())) as memory:
            if await memory.components.store.owners("default"):
                raise SystemExit("the database is not empty: give one that is")
            await fill(memory, users)
        seconds, cpu = time.perf_counter() - began, time.process_time() - spent
        print(
            f"{options.memories:,} adds in {seconds:.0f} s, {1000 * cpu / options.memories:.1f} ms of CPU here for each"
        )
        length = sum(len(words.encode()) for user in users for words in user.texts) / options.memories
        print(f"a text has {length:.0f} bytes of UTF-8\n")
        sizes = sizes_on_server(options.store) if options.store else sizes_in_file(Path(folder))
    report(sizes, memories=options.memories)


if __name__ == "__main__":
    asyncio.run(main())
