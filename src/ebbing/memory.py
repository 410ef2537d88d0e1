"""The façade: one memory with everything that it can do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ebbing.api.admin.administration import Keeping
from ebbing.api.admin.api_keys import Admitting
from ebbing.api.admin.webhooks import Telling
from ebbing.api.feedback import Hearing
from ebbing.api.forgetting.changes import Undoing
from ebbing.api.forgetting.forget_topic import Forgetting
from ebbing.api.forgetting.reviews import Reviewing
from ebbing.api.people.identities import Identifying
from ebbing.api.upkeep.decay import Fading
from ebbing.api.upkeep.merging import Compressing
from ebbing.api.upkeep.queued_adds import Deferring
from ebbing.ports.chat_model import ChatModel
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.reranker import Reranker
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.wiring.build import Components, build, settings_from_config


class AsyncMemory(
    Forgetting, Undoing, Reviewing, Hearing, Keeping, Compressing, Fading, Deferring, Telling, Admitting, Identifying
):
    """A person's long-term memory, in one directory, with nothing but this package.

    Every call names whose memory is meant by `user_id`, `agent_id` or `run_id` (directly or inside `filters`); a
    memory that names a user belongs to the user. Safe to use from many tasks; several processes may share a path.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        embedder: Embedder | str | None = None,
        clock: Clock | None = None,
        recall_settings: RecallSettings | None = None,
        reranker: Reranker | str | None = None,
        chat_model: ChatModel | None = None,
        components: Components | None = None,
    ) -> None:
        """Opens the memory at `path` (default: `EBBING_PATH`, else `./ebbing-data`); the model loads on first use.

        Args:
            path: directory of the store; made if it does not exist.
            embedder: `auto`, `e5`, `use`, `openai`, `none`, or an object with the `Embedder` port.
            clock: the source of "now"; the system's unless a test or a simulation gives one.
            recall_settings: the numbers that recall runs on.
            reranker: `none`, `late`, `endpoint`, or an object with the `Reranker` port.
            chat_model: a language model with the `ChatModel` port, in place of the endpoint that the settings name.
            components: everything at once, made by `ebbing.wiring.build`.

        Raises:
            ConfigurationError: a setting is wrong.
            StoreError: the store cannot be opened.
        """
        super().__init__(
            components
            or build(
                path=path,
                embedder=embedder,
                clock=clock,
                recall_settings=recall_settings,
                reranker=reranker,
                chat_model=chat_model,
            )
        )

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any] | None = None,
        *,
        config_dict: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """A memory for a config in our settings' names or in mem0's shape; see docs/mem0.md.

        Args:
            config_dict: another name for `config`.

        Raises:
            ConfigurationError: a key is unknown, a value does not fit, or a provider's key is missing.
        """
        given = config if config_dict is None else config_dict
        return cls(components=build(settings_from_config(given or {}), clock=clock))

    @classmethod
    def from_env(cls) -> Self:
        """A memory for what the environment says (`EBBING_*`).

        Raises:
            ConfigurationError: a value does not fit.
        """
        return cls()

    async def close(self) -> None:
        """Ends running sessions, finishes what was accepted and lets go of files and threads; idempotent.

        What cannot be closed keeps nothing else open; its error is raised at the end.
        """
        if self._is_view:
            return
        async with AsyncExitStack() as closing:  # it closes the last first
            closing.push_async_callback(self._components.embedder.aclose)
            closing.push_async_callback(self._components.store.aclose)
            closing.push_async_callback(self._components.reranker.aclose)
            closing.push_async_callback(self._components.chat.aclose)
            closing.push_async_callback(self._components.webhooks.aclose)
            closing.push_async_callback(self._components.usage.flush)
            closing.push_async_callback(self._components.following.aclose)
            closing.push_async_callback(self._conversations.end_all)
            closing.push_async_callback(self._keeper.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
