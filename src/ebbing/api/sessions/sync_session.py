"""The same session for code that does not await."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from ebbing.api.sessions.session import AsyncSession
from ebbing.api.threads.blocking import Blocking, blocking
from ebbing.domain.errors import StoreClosedError


class Session(Blocking[AsyncSession]):
    """One conversation; made by `Memory.session`. The blocking twin of `AsyncSession`."""

    @property
    def run_id(self) -> str:
        """The name of the conversation, made up where none was given."""
        return self._service.run_id

    @property
    def private(self) -> bool:
        """Whether the conversation is off the record; see `AsyncSession.private`."""
        return self._service.private

    @private.setter
    def private(self, is_private: bool) -> None:
        self._service.private = is_private

    add = blocking(AsyncSession.add)
    messages = blocking(AsyncSession.messages)
    holds_private = blocking(AsyncSession.holds_private)
    search = blocking(AsyncSession.search)
    get_context = blocking(AsyncSession.get_context)
    end = blocking(AsyncSession.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(StoreClosedError):  # closing the memory has ended the session
            self.end()
