"""Whose memory a call opens: it follows from the credential or the settings, never from an argument."""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import (
    ClosedMemoryError,
    EbbingError,
    InvalidInputError,
    MemoryNotFoundError,
    MissingOwnerError,
    NotFoundError,
    StoreError,
    UnauthorizedError,
)
from ebbing.memory import AsyncMemory

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")
_log: Final = logging.getLogger("ebbing.mcp")

NEXT_STEPS: Final[tuple[tuple[type[EbbingError], str], ...]] = (
    (MemoryNotFoundError, "Call memory_search first and use an id that it returns."),
    (ClosedMemoryError, "This memory is no longer true: add the new statement with memory_add."),
    (MissingOwnerError, "Start `ebbing mcp` with --user NAME, or set EBBING_USER."),
    (NotFoundError, "Check the id."),
    (UnauthorizedError, "Ask the person to give this client a key that may do this."),
    (InvalidInputError, "Change the arguments and call again."),
    (StoreError, "Go on without memory, and tell the person to run `ebbing doctor`."),
)
"""What a model can do about an error; the first kind that fits counts."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The person that a connection speaks for, and what it may do."""

    memory: AsyncMemory
    """Of the caller's tenant."""
    user: str | None
    role: AccessRole = AccessRole.ADMIN

    @property
    def owner(self) -> str:
        """The user id.

        Raises:
            MissingOwnerError: neither the credential nor the settings name a user.
        """
        if self.user is None:
            raise MissingOwnerError("no user: neither the credential of this client nor the settings name a user")
        return self.user

    def needs(self, role: AccessRole) -> None:
        """Refuse a credential that may not do this.

        Raises:
            UnauthorizedError: it may not.
        """
        if self.role < role:
            raise UnauthorizedError(f"this credential may not {role.word}")


CallerOf = Callable[[ServerRequestContext[Any, Any]], Caller]
"""Who sent a request."""

_current: ContextVar[Caller] = ContextVar("caller")


def remember_caller(caller: Caller) -> None:
    """Let `current_caller` return this caller for the rest of the request."""
    _current.set(caller)


def current_caller(role: AccessRole = AccessRole.READ) -> Caller:
    """Return who sent the request that is being answered.

    Raises:
        UnauthorizedError: their credential may not do this.
    """
    caller = _current.get()
    caller.needs(role)
    return caller


def explained(error: Exception) -> str:
    """Return what a model is told of an error: what was wrong, and what to do next. No text of a memory is in it."""
    if isinstance(error, EbbingError):
        step = next((step for kind, step in NEXT_STEPS if isinstance(error, kind)), "Go on without memory.")
        return f"{error}. {step}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("unexpected %s at %s:%d", type(error).__name__, Path(frame.filename).name, frame.lineno or 0)
    return "the memory failed on this call. Go on without memory."


@contextmanager
def failing_as(kind: type[Exception]) -> Iterator[None]:
    """Turn whatever goes wrong into an error of the protocol, so that nothing else of it is told or logged."""
    try:
        yield
    except kind:
        raise
    except Exception as error:  # the outermost door: a failed call never ends the connection
        raise kind(explained(error)) from None


def as_tool(function: Callable[_Arguments, Awaitable[_Answer]]) -> Callable[_Arguments, Awaitable[_Answer]]:
    """Return a function as a tool whose errors are texts for a model."""

    @functools.wraps(function)
    async def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        with failing_as(ToolError):
            return await function(*args, **kwargs)

    return run
