"""What answers a prompt: a language model behind any endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Speaker = Literal["system", "user", "assistant"]
Schema = Mapping[str, Any]
"""A JSON Schema of an object. Its `title` names it; it is `strict` where `additionalProperties` is False."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt."""

    role: Speaker
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost, in tokens, as the endpoint counts them; 0 where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer."""

    text: str
    """As it was given, without a reasoning model's thoughts."""
    parsed: Any = None
    """The JSON value in it, where a schema was given: an object that has the schema's required fields, each of the
    type it names. What the fields hold is not checked further: a caller checks each item and drops the bad ones."""
    model: str = ""
    """Which model answered."""
    usage: Usage = Usage()
    truncated: bool = False
    """It was cut off, at `max_tokens` or otherwise. Of `parsed` only what is whole is left: no half item."""


class ChatModel(Protocol):
    """A prompt in, an answer out, within bounded time.

    Whoever calls sees to it that the prompt holds nothing that must not leave the machine: redaction comes before.
    An adapter never puts prompt, answer or key into an error or a log.

    Raises:
        ModelUnavailableError: it cannot be reached, is overloaded, or is left alone after repeated failures.
        ModelTimeoutError: no answer in time.
        ModelRefusedError: the key, the name, the quota or the content was declined.
        BadModelOutputError: a schema was given, and neither the answer nor a second one fits it.
    """

    @property
    def model_id(self) -> str:
        """Names the model, for the provenance of what it wrote."""
        ...

    async def complete(
        self,
        messages: Sequence[Turn],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout_seconds: float | None = None,
    ) -> Completion:
        """The answer to a prompt.

        Args:
            messages: the prompt, oldest first; at least one.
            schema: the answer must be JSON of this form.
            max_tokens: bound of the answer's length; the model's own without it.
            temperature: in [0, 2]; 0 for the likeliest answer.
            timeout_seconds: bound of the whole call, retries included; the adapter's own without it.
        """
        ...

    async def aclose(self) -> None:
        """Lets go of connections; idempotent."""
        ...
