"""Opens stores table by table, by a directory or an address: for moving one into another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ebbing.domain.errors import ConfigurationError
from ebbing.ports.stores.store_tables import NewStoreTables, StoreTables
from ebbing.wiring.build import missing_drivers
from ebbing.wiring.config.store_place import address_in

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://?(?=[^/])")


def open_tables(place: str | Path) -> StoreTables:
    """Open the store in a directory, or at the address of a database server.

    Raises:
        ConfigurationError: the address is of no kind that is known.
        StoreNotFoundError: there is no store.
        SchemaError: it is of another layout.
        StoreError: it cannot be reached or used.
    """
    address = _address(place)
    if address is None:
        from ebbing.adapters.sqlite.moving.store_tables import SqliteStoreTables

        return SqliteStoreTables.open(Path(place))
    try:
        from ebbing.adapters.sql.moving.store_tables import SqlStoreTables
    except ModuleNotFoundError as error:
        raise missing_drivers(address) from error
    return SqlStoreTables.open(address)


def make_tables(place: str | Path) -> NewStoreTables | None:
    """Open a place that a store is moved into; None where a store is there already.

    Raises:
        ConfigurationError: the address is of no kind that is known.
        SchemaError: what is there is of another layout, or another program's.
        StoreError: it cannot be reached or used.
    """
    address = _address(place)
    if address is None:
        from ebbing.adapters.sqlite.moving.new_store import NewSqliteStore

        return NewSqliteStore.make(Path(place))
    try:
        from ebbing.adapters.sql.moving.new_store import NewSqlStore
    except ModuleNotFoundError as error:
        raise missing_drivers(address) from error
    return NewSqlStore.make(address)


def is_same_place(place: str | Path, other: str | Path) -> bool:
    """Return whether two names are of the same place, as far as the names say."""
    return _plain(place) == _plain(other)


def _plain(place: str | Path) -> str:
    address = _address(place)
    if address is None:
        return str(Path(place).resolve())
    server, _, rest = address.partition("://")
    return f"{server.replace('postgresql', 'postgres').replace('mariadb', 'mysql')}://{rest.rpartition('@')[2]}"


def _address(place: str | Path) -> str | None:
    address = address_in(place)
    if address is None and (match := _SCHEME.match(str(place))):
        raise ConfigurationError(
            f"there is no store of the kind {match[1]}: name a directory, or an address that begins with"
            " postgresql:// or mysql://"
        )
    return address
