"""The memory in its own store, for hooks where no service runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ebbing.domain.errors import InvalidInputError
from ebbing.sync import Memory
from ebbing.wiring.optional_extras import open_components


class StoreMemory:
    """What hooks ask of a store. The store is opened for one call, and closed after it."""

    def __init__(self, *, path: str | None, user: str | None) -> None:
        self._settings: dict[str, Any] = {} if path is None else {"path": Path(path)}
        self._user = user

    def recall(self, options: dict[str, Any]) -> str:
        """Return a block about the person; `options` are those of `get_context`.

        Raises:
            EbbingError: the settings name no user, or the store cannot be read.
        """
        with self._opened(make_store=False) as memory:
            return memory.get_context(user_id=self._owner(memory), **options)["context"]

    def remember(self, messages: list[dict[str, Any]], session: str) -> None:
        """Store messages, each under its id; one that may not be stored is left out.

        Raises:
            EbbingError: the settings name no user, or the store cannot be written.
        """
        with self._opened(make_store=True) as memory:
            owner = self._owner(memory)
            try:
                memory.add(messages, user_id=owner, run_id=session)
            except InvalidInputError:
                if owner is None:
                    raise
                for message in messages:
                    with suppress(InvalidInputError):
                        memory.add([message], user_id=owner, run_id=session)

    def _opened(self, *, make_store: bool) -> Memory:
        components, _ = open_components(self._settings, make_store=make_store)
        return Memory(components=components)

    def _owner(self, memory: Memory) -> str | None:
        return self._user or memory.components.settings.user
