"""What people may see of an address: where a server is, and nothing that opens it.

Only what is known to be harmless is shown. Readers of addresses do not agree where a password with a `/`, `@` or `?`
ends, and each driver has its own parameters: a list of what to hide would always lack one.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

_HIDDEN: Final = "***"
_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/{1,2}(.*)", re.DOTALL)
_DATABASE: Final = re.compile(r"(postgresql|postgres|mysql|mariadb)(\+\w+)?", re.IGNORECASE)
_NUMBERED: Final = frozenset({"redis", "rediss"})
"""Their databases are numbers; the path of any other address may be a key."""
_PASSWORD_BEGINS: Final = re.compile(r":|%3a", re.IGNORECASE)
_USER: Final = re.compile(r"[\w.%+-]*")
_HOST: Final = r"(?:\[[0-9A-Fa-f:.%\w]*\]|[\w.%-]*)(?::\d*)?"
_HOSTS: Final = re.compile(rf"{_HOST}(?:,{_HOST})*")
_NAME: Final = re.compile(r"[\w.%+-]*")
_VALUE: Final = re.compile(r"[\w.,/-]*")
_HARMLESS: Final = frozenset(
    {
        "user",
        "host",
        "port",
        "dbname",
        "sslmode",
        "charset",
        "connect_timeout",
        "application_name",
        "target_session_attrs",
    }
)


def without_password(address: str) -> str:
    """Return an address as people may see it: `postgresql://ada:***@host/database`; `***` for what is no address.

    Of a database the user is shown as well, of any other server only host and port.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return _HIDDEN
    scheme, rest = match.groups()
    is_database = _DATABASE.fullmatch(scheme) is not None
    before, mark, query = rest.partition("?")
    user, at, place = before.rpartition("@")
    hosts, slash, path = place.partition("/")
    is_doubtful = "@" in query or not _HOSTS.fullmatch(hosts) or ("/" in user and not is_database)
    if is_doubtful:  # where the password ends, nobody can tell
        return f"{scheme}://{_HIDDEN}"
    if is_database:
        name = path if _NAME.fullmatch(path) else _HIDDEN
        server = f"{_masked_user(user)}{at}{hosts}{slash}{name}"
        return f"{scheme}://{server}{mark}{_masked_query(query)}"
    if scheme.lower() in _NUMBERED and path.isdecimal():
        return f"{scheme}://{hosts}/{path}"
    return f"{scheme}://{hosts}"


def _masked_user(text: str) -> str:
    user, *password = _PASSWORD_BEGINS.split(text, maxsplit=1)
    if not _USER.fullmatch(user):
        return _HIDDEN
    return f"{user}:{_HIDDEN}" if password else user


def _masked_query(query: str) -> str:
    parameters = query.split("&") if query else []
    # what follows a password may be the rest of it, behind an & that should have been written as %26
    harmless = list(takewhile(_is_harmless, parameters))
    if len(harmless) < len(parameters):
        harmless.append(_HIDDEN)
    return "&".join(harmless)


def _is_harmless(parameter: str) -> bool:
    name, mark, value = parameter.partition("=")
    return name in _HARMLESS and mark == "=" and _VALUE.fullmatch(value) is not None
