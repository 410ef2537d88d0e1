"""The same session for code that does not await."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial, update_wrapper
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from ebbing.api.sessions.session import AsyncSession
from ebbing.domain.errors import StoreClosedError

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Run(Protocol):
    """Runs a coroutine to its end on the memory's loop."""

    def __call__(self, call: Callable[[], Coroutine[Any, Any, _Result]], /) -> _Result:
        """What it returns or raises."""
        ...


def _blocking(
    method: Callable[Concatenate[AsyncSession, _Given], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Session, _Given], _Result]:
    """The method with the same signature and documentation, returning when it is done."""

    def call(self: Session, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return self._run(partial(method, self._session, *args, **kwargs))

    update_wrapper(call, method)
    return call


class Session:
    """One conversation; made by `Memory.session`. The blocking twin of `AsyncSession`."""

    def __init__(self, session: AsyncSession, run: Run) -> None:
        self._session, self._run = session, run

    @property
    def run_id(self) -> str:
        """The name of the conversation, made up where none was given."""
        return self._session.run_id

    @property
    def private(self) -> bool:
        """Whether the conversation is off the record; see `AsyncSession.private`."""
        return self._session.private

    @private.setter
    def private(self, is_private: bool) -> None:
        self._session.private = is_private

    add = _blocking(AsyncSession.add)
    messages = _blocking(AsyncSession.messages)
    holds_private = _blocking(AsyncSession.holds_private)
    search = _blocking(AsyncSession.search)
    get_context = _blocking(AsyncSession.get_context)
    end = _blocking(AsyncSession.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(StoreClosedError):  # closing the memory has ended the session
            self.end()
