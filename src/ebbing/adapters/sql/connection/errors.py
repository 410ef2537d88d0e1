"""What SQLAlchemy and the drivers raise, as errors of ours; none repeats a stored value or a password."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import URL
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ebbing.adapters.sql.connection.addresses import shown
from ebbing.domain.errors import EbbingError, InvalidInputError, SchemaError, StoreError

EXPECTED: Final = (SQLAlchemyError, OSError, ValueError, OverflowError, TimeoutError)
"""What a statement may raise beside our own refusals."""

# SQLSTATE of PostgreSQL, number of MariaDB and MySQL.
_AGAIN: Final = frozenset({"40001", "40P01", "55P03", 1213, 1205, 1020, 1684})
_REFUSED: Final = frozenset({"28000", "28P01", 1044, 1045, 1698})
_NO_DATABASE: Final = frozenset({"3D000", 1049})
_FULL: Final = frozenset({"53100", 1021, 1114, 3})
_BUSY: Final = frozenset({"53300", 1040, 1203, 1226})
_READ_ONLY: Final = frozenset({"25006", 1290, 1792, 1836})
_NO_TABLE: Final = frozenset({"42P01", "42703", 1146, 1054})
_NO_RIGHT: Final = frozenset({"42501", 1142, 1143})
_SLOW: Final = frozenset({"57014", 1969, 3024})
# What PostgreSQL's client says where a connection could not be made: it brings no SQLSTATE.
_SPOKEN: Final = (
    ("too many c", "53300"),
    ("connection slots", "53300"),
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ('role "', "28P01"),
    ("does not exist", "3D000"),
)


def may_be_retried(error: Exception, *, committing: bool) -> bool:
    """Whether a transaction that failed so may be done once more: nothing of it was written, and it may go well now."""
    if isinstance(error, IntegrityError):
        return True  # somebody else wrote the same row first, which the next attempt will see
    if not isinstance(error, DBAPIError):
        return False
    return was_in_the_way(error) or (error.connection_invalidated and not committing)


def was_in_the_way(error: DBAPIError) -> bool:
    """Whether somebody else was, by a lock or by making the table: the transaction is over, and may go well now."""
    return bool(_AGAIN & set(_codes(error)))


def translated(error: Exception, address: URL, *, committing: bool = False) -> EbbingError:
    """The error to raise in place of one of `EXPECTED`; `committing` if nobody knows whether it was written."""
    cause = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    if isinstance(cause, EbbingError):
        return cause
    if isinstance(cause, UnicodeError):
        return InvalidInputError("the text holds broken Unicode (a lone surrogate): replace it before storing")
    if isinstance(error, DataError) or isinstance(cause, OverflowError):
        return InvalidInputError("a number is too large for the store (64 bits), or a name or an id is too long")
    if isinstance(error, PoolTimeoutError):
        return StoreError(
            "the store's connections are all in use: retry, or raise EBBING_STORE_CONNECTIONS on a larger server"
        )
    codes = frozenset(_codes(error))
    for meant, sentence in _SENTENCES:
        if meant & codes:
            return StoreError(sentence.format(address=shown(address)))
    if codes & _NO_TABLE:
        return SchemaError("the store lacks a table or a column that this Ebbing needs: run `ebbing migrate`")
    unsure = "; the last change may be written or not: read it before you repeat it" if committing else ""
    if isinstance(cause, TimeoutError):
        return StoreError(_TOO_SLOW.format(address=shown(address)) + unsure)
    if isinstance(cause, OSError) or _is_lost(error):
        return StoreError(
            f"the store at {shown(address)} cannot be reached: check that the server runs, then retry{unsure}"
        )
    return StoreError(
        f"the store could not do it ({type(cause).__name__} {' '.join(map(str, sorted(map(str, codes))))})"
    )


_TOO_SLOW: Final = (
    "the store at {address} takes too long: look at the server's load and locks, then retry, or raise"
    " EBBING_STORE_TIMEOUT_SECONDS"
)
_SENTENCES: Final = (
    (_SLOW, _TOO_SLOW),
    (_REFUSED, "the store at {address} refused the user name or the password: check EBBING_STORE"),
    (_NO_DATABASE, "the store's server has no database of that name: create it, or check EBBING_STORE ({address})"),
    (_FULL, "the store's disk at {address} is full: nothing was written; make room on the server, then retry"),
    (_BUSY, "the store's server at {address} takes no more connections: retry, or lower EBBING_STORE_CONNECTIONS"),
    (_READ_ONLY, "the store's server at {address} takes no writes now: point EBBING_STORE at the primary"),
    (_NO_RIGHT, "the user of the store at {address} may not do this: grant it the rights on the tables"),
    (_AGAIN, "somebody else kept the store's rows locked for too long: retry"),
)


def _codes(error: Exception) -> Iterator[str | int]:
    cause = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(cause, "sqlstate", None)
    if state:
        yield state
    if cause is not None and cause.args and isinstance(cause.args[0], int):
        yield cause.args[0]
    if not state and cause is not None:
        text = str(cause)
        yield from [code for words, code in _SPOKEN if words in text][:1]


def _is_lost(error: Exception) -> bool:
    lost = frozenset({2002, 2003, 2006, 2013, 1053, 1927, "57P01", "57P02", "57P03", "08006", "08001", "08003"})
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated
        or bool(lost & set(_codes(error)))
        or any(kind.__name__ == "OperationalError" for kind in type(error.orig).__mro__)
    )
