"""Where a database server is: the address of a setting as SQLAlchemy wants it, and as people may see it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.privacy.addresses import without_password

_SCHEMES: Final = {"postgresql": "postgresql", "postgres": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
_DRIVERS: Final = {"postgresql": ("psycopg", "psycopg", "postgres"), "mysql": ("asyncmy", "pymysql", "mysql")}
"""By server: the driver that awaits, the one that blocks, and the extra that brings both."""
CONNECT_SECONDS: Final = 10
"""How long a server may take to answer a new connection."""


def address_of(text: str) -> URL:
    """Return the address of a server, without a driver.

    Raises:
        ConfigurationError: it is not one of PostgreSQL, MariaDB or MySQL.
        MissingExtraError: the driver is not installed.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None  # what cannot be read may hold a password: it is not repeated
    server = _SCHEMES.get(url.drivername.partition("+")[0]) if url is not None else None
    if url is None or server is None or not url.database or "@" in (url.host or ""):
        raise ConfigurationError(
            "the store's address is not usable: write postgresql://user:password@host/database"
            " or mysql://user:password@host/database, with @ and % in the password as %40 and %25"
        )
    for driver in _DRIVERS[server][:2]:
        if find_spec(driver) is None:
            extra = _DRIVERS[server][2]
            raise MissingExtraError(
                f"a store on this server needs a driver that is not installed: pip install 'ebbing[{extra}]'"
            )
    return url.set(drivername=server)


def with_driver(address: URL, *, blocking: bool = False) -> URL:
    """Return the address with the driver that awaits, or the one that blocks."""
    url = address.set(drivername=f"{address.drivername}+{_DRIVERS[address.drivername][blocking]}")
    return url.update_query_dict({"charset": "utf8mb4"}) if address.drivername == "mysql" else url


def shown(address: URL) -> str:
    """Return the address for people: without the password, also where a parameter has it."""
    return without_password(address.render_as_string(hide_password=False))
