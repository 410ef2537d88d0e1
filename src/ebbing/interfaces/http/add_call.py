"""From what a route was sent to a call of `add`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.request_context import OwnerParams
from ebbing.interfaces.http.schema.request_models import AddBody
from ebbing.memory import AsyncMemory

_OPTIONS: Final = ("filters", "source_id", "mode", "trust", "tags", "private", "change_id")

Call = dict[str, Any]
"""The arguments of an add, as JSON values."""


def call_of(body: AddBody, owner: OwnerParams, *, name: str | None = None) -> Call:
    """The arguments of `add` for a body.

    Args:
        name: of the request. Messages without an id get one that follows from it, so that a request that is done a
            second time, because the first end of it was never heard of, stores nothing twice.

    Raises:
        InvalidInputError: neither or both of text and messages.
    """
    if (body.text is None) == (body.messages is None):
        raise InvalidInputError("give text or messages, one of them")
    messages = body.text if body.messages is None else body.messages
    infer = body.messages is not None if body.infer is None else body.infer
    options = {option: value for option in _OPTIONS if (value := getattr(body, option)) is not None}
    if name is not None and body.source_id is None:
        messages = _named(messages, name)
    return {"messages": messages, **owner, "metadata": body.metadata, "infer": infer, **options}


async def add(memory: AsyncMemory, call: Call) -> Mapping[str, Any]:
    """What `add` answers to such arguments."""
    added: Mapping[str, Any] = await memory.add(call["messages"], **{k: v for k, v in call.items() if k != "messages"})
    return added


def _named(messages: Any, name: str) -> list[Any]:
    """The messages, each with an id."""
    several = messages if isinstance(messages, list) else [messages]
    return [_with_id(message, f"{name}-{number}") for number, message in enumerate(several)]


def _with_id(message: Any, message_id: str) -> Any:
    if isinstance(message, str):
        return {"role": "user", "content": message, "id": message_id}
    if isinstance(message, dict) and message.get("id") is None:
        return {**message, "id": message_id}
    return message
