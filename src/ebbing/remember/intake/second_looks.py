"""What messages ask to keep off the record: where their words leave it open, their meaning decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.off_record import (
    LIKELY_BY_WORDS,
    OPEN,
    SURE_BY_WORDS,
    PossibleRequest,
    Request,
    is_likely,
    possible_request,
)
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.intake.screening import Requests

MAX_READ: Final = 600
"""Characters of a message whose meaning is looked at, half of them at each end: there a request stands."""


async def requests_in(messages: Sequence[Message], *, load: Callable[[], Awaitable[AddDeps]]) -> Requests:
    """Return what the messages of users ask, by their text.

    Where the meaning cannot be looked at, the words decide.

    Args:
        load: gives the models; it is called where words leave something open, which they seldom do.
    """
    requests: dict[str, Request | None] = {}
    left_open: dict[str, PossibleRequest] = {}
    for message in messages:
        text = message.content
        if message.role is Role.USER and text not in requests:
            possible = possible_request(text)
            requests[text] = possible.request if possible.probability >= LIKELY_BY_WORDS else None
            if OPEN <= possible.probability < SURE_BY_WORDS:
                left_open[text] = possible
    if left_open:
        with suppress(EbbingError):  # the call goes on without its models: the words have said what they know
            requests |= await _by_meaning(left_open, await load())
    return requests


def ends_of(text: str) -> str:
    """Return what is looked at of a message: all of it, or both ends of a long one."""
    return text if len(text) <= MAX_READ else f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"


async def _by_meaning(possible: Mapping[str, PossibleRequest], deps: AddDeps) -> dict[str, Request | None]:
    """Return what the messages ask whose meaning could be looked at."""
    model = deps.off_record
    if model is None or deps.embedder is None or deps.embedder.model_id != model.model_id:
        return {}
    vectors = await deps.vectors([ends_of(text) for text in possible])
    requests: dict[str, Request | None] = {}
    for (text, each), vector in zip(possible.items(), vectors, strict=True):
        if vector is not None:
            [probability] = model.judge([each.probability], [vector])
            asks = is_likely(each, probability)
            requests[text] = each.request if asks else None
    return requests
