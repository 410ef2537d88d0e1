"""What the client of Redis raises, as errors of ours; none repeats a key, a value or a password."""

from __future__ import annotations

from typing import Final

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterError,
    ConnectionError,  # noqa: A004 - the name of theirs
    MaxConnectionsError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004 - the name of theirs
)

from ebbing.domain.errors import StoreError

EXPECTED: Final = (RedisError, OSError)
"""What a call of the client may raise."""

# The first of these that an error is says what to do: a class of theirs before the class that it belongs to.
_BY_CLASS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (AuthenticationError, "refused the user name or the password: check EBBING_REDIS_URL"),
    (AuthorizationError, "refused the user name or the password: check EBBING_REDIS_URL"),
    (NoPermissionError, "does not let this user do it: grant it all commands on the keys ebbing:*"),
    (OutOfMemoryError, "is full (maxmemory): nothing was written; give it more memory, then retry"),
    (ReadOnlyError, "takes no writes now: point EBBING_REDIS_URL at the primary"),
    (BusyLoadingError, "is still reading its data: retry"),
    (MaxConnectionsError, "has all its connections in use: retry"),
    (TimeoutError, "did not answer in time: check its load and the network, then retry"),
    (ConnectionError, "cannot be reached: check that the server runs, then retry"),
    (OSError, "cannot be reached: check that the server runs, then retry"),
    (ClusterError, "is a cluster, which cannot be used: name a single server, or a primary with replicas"),
)
# What has no class of its own is told by how the server's sentence begins.
_BY_WORDS: Final = (
    (("NOAUTH", "WRONGPASS"), _BY_CLASS[0][1]),
    (("OOM",), _BY_CLASS[3][1]),
    (("READONLY",), _BY_CLASS[4][1]),
    (("MISCONF",), "cannot write to its disk: make room on the server, then retry"),
    (("MOVED", "CROSSSLOT", "CLUSTERDOWN"), _BY_CLASS[-1][1]),
    (("DB index is out of range",), "has no database of this number: check EBBING_REDIS_URL"),
    (("unknown command", "Unknown Redis command"), "lacks a command: it has to be version 6.2 or newer, unrestricted"),
)


def translated(error: Exception, place: str) -> StoreError:
    """Return the error to raise in place of one of `EXPECTED`.

    Args:
        place: where the server is, without its password.
    """
    text = str(error)
    if isinstance(error, ResponseError | ConnectionError):
        for openings, sentence in _BY_WORDS:
            if text.startswith(openings):
                return StoreError(f"the Redis at {place} {sentence}")
    for kind, sentence in _BY_CLASS:
        if isinstance(error, kind):
            return StoreError(f"the Redis at {place} {sentence}")
    return StoreError(f"the Redis at {place} could not do it ({type(error).__name__})")


def is_out_of_reach(error: Exception) -> bool:
    """Return whether the server gave no answer at all, so that the next call would wait in vain, too."""
    is_refusal = isinstance(error, AuthenticationError | AuthorizationError | MaxConnectionsError)
    return isinstance(error, ConnectionError | TimeoutError | OSError) and not is_refusal
