"""What keeps something of texts beside the store, in RAM or in a file of its own, and can let go of it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Forgetful(Protocol):
    """A cache of vectors or tokens, of texts that were stored and of questions that were asked."""

    async def forget(self) -> None:
        """Lets go of everything: nobody can tell any more whose it was. What is needed again is worked out again.

        Raises:
            EmbeddingError: its file cannot be used.
        """
        ...
