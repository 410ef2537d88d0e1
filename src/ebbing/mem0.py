"""mem0's library on an Ebbing store: `from ebbing.mem0 import Memory` takes its arguments and gives its answers.

The name `mem0` itself is never taken, so an installed `mem0ai` stays what it is. Beyond mem0's methods everything of
`ebbing.Memory` is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from ebbing import memory as ours
from ebbing import sync
from ebbing.domain.errors import InvalidInputError, ModelUnavailableError
from ebbing.validation import end_of_day
from ebbing.wiring.build import build, settings_from_config

__all__ = ["AsyncMemory", "Memory"]

_IDS: Final = ("user_id", "agent_id", "run_id")
_FIELDS: Final = (
    *("id", "memory", "hash", "metadata", "score", "score_details", "created_at", "updated_at"),
    *(*_IDS, "actor_id", "role"),
)
_TOP_K: Final = 20
_THRESHOLD: Final = 0.1

Config = Mapping[str, Any] | str | Path | None


def _components(config: Config) -> Any:
    """The parts for mem0's config dict, for the path of a store, or for the environment."""
    if config is None:
        return build()
    if isinstance(config, str | Path):
        return build(path=config)
    return build(settings_from_config(config))


def _results(answer: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = answer["results"] if isinstance(answer, Mapping) else answer
    return results


def _shown(answer: Any) -> dict[str, Any]:
    """The results with mem0's fields alone."""
    return {"results": [{name: item[name] for name in _FIELDS if name in item} for item in _results(answer)]}


def _added(answer: Any) -> dict[str, Any]:
    """What an add did, without what was known already.

    Raises:
        ModelUnavailableError: the language model did not read the messages; they are kept and read later.
    """
    if isinstance(answer, Mapping) and answer.get("extraction_error"):
        raise ModelUnavailableError(
            f"the language model did not read the messages ({answer['extraction_error']}); they are kept"
        )
    changed = [item for item in _results(answer) if item["id"] is not None and item["event"] != "NONE"]
    return {"results": [{name: item[name] for name in ("id", "memory", "event")} for item in changed]}


def _search_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """mem0's arguments and defaults in our words: facts alone, twenty of them, with a least score."""
    arguments = {"top_k": _TOP_K, "threshold": _THRESHOLD, "rerank": False, "include": "memories", **options}
    if "limit" in arguments:
        arguments["top_k"] = arguments.pop("limit")
    return {name: value for name, value in arguments.items() if value is not None}


def _update_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """mem0's `expiration_date` as the end that it means; null takes an end away."""
    arguments = dict(options)
    if "expiration_date" in arguments:
        day = arguments.pop("expiration_date")
        arguments["expires_at"] = "never" if day is None else end_of_day(day)
    if "timestamp" in arguments:
        raise InvalidInputError("timestamp cannot be changed: when a memory was made is part of its history")
    return arguments


class Memory(sync.Memory):
    """mem0's `Memory` on an Ebbing store."""

    def __init__(self, config: Config = None) -> None:
        """Opens a store for mem0's config dict, at a path, or as the environment says.

        Raises:
            ConfigurationError: a config that cannot be used, or a provider's key is missing.
            StoreError: the store cannot be opened.
        """
        super().__init__(components=_components(config))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:  # type: ignore[override]  # mem0's name
        """Opens a store for mem0's config dict."""
        return cls(config_dict)

    def add(self, messages: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Adds what a conversation says: `{"results": [{"id", "memory", "event"}]}`; see `ebbing.Memory.add`."""
        return _added(super().add(messages, **options))

    def search(self, query: str, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Searches facts: 20 at most, of a score of 0.1 or more; see `ebbing.Memory.search`."""
        return _shown(super().search(query, **_search_arguments(options)))

    def get_all(self, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Lists facts, the newest first, 20 unless `top_k` says otherwise; see `ebbing.Memory.get_all`."""
        return _shown(super().get_all(**{"top_k": _TOP_K, **options}))

    def update(self, memory_id: str, text: str | None = None, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Changes a memory: `{"message"}`; see `ebbing.Memory.update`."""
        super().update(memory_id, text, **_update_arguments(options))
        return {"message": "Memory updated successfully!"}


class AsyncMemory(ours.AsyncMemory):
    """mem0's `AsyncMemory` on an Ebbing store."""

    def __init__(self, config: Config = None) -> None:
        """Opens a store for mem0's config dict, at a path, or as the environment says.

        Raises:
            ConfigurationError: a config that cannot be used, or a provider's key is missing.
            StoreError: the store cannot be opened.
        """
        super().__init__(components=_components(config))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:  # type: ignore[override]  # mem0's name
        """Opens a store for mem0's config dict."""
        return cls(config_dict)

    async def add(self, messages: Any, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Adds what a conversation says; see `Memory.add`."""
        return _added(await super().add(messages, **options))

    async def search(self, query: str, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Searches facts; see `Memory.search`."""
        return _shown(await super().search(query, **_search_arguments(options)))

    async def get_all(self, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Lists facts; see `Memory.get_all`."""
        return _shown(await super().get_all(**{"top_k": _TOP_K, **options}))

    async def update(self, memory_id: str, text: str | None = None, **options: Any) -> dict[str, Any]:  # type: ignore[override]  # mem0\'s shape
        """Changes a memory; see `Memory.update`."""
        await super().update(memory_id, text, **_update_arguments(options))
        return {"message": "Memory updated successfully!"}
