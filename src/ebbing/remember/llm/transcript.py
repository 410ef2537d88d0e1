"""A conversation as a model sees it: JSON, in chunks that fit its context."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.text.sentences import split_text
from ebbing.language.text.token_count import estimate_tokens
from ebbing.privacy.guarding.strip_recalled import strip_recalled

SPOKEN: Final = (Role.USER, Role.ASSISTANT)
"""What system and tools say is not shown: nothing is learnt from it, and it may hold anybody's orders."""
_MAX_PIECE_CHARS: Final = 4_000
"""Characters of one message that are shown in one entry."""
_CONTEXT_PIECES: Final = 4
"""Messages from before that are shown for context."""
_CONTEXT_CHARS: Final = 500
"""Characters of each of them, the last ones."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A message or a part of a long one, with the message's index in its conversation."""

    number: int
    message: Message
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """The part of a conversation that a model reads at once."""

    pieces: tuple[Piece, ...]
    context: tuple[Piece, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """Indices of the messages in it."""
        return tuple(dict.fromkeys(piece.number for piece in self.pieces))

    @property
    def text(self) -> str:
        """The chunk as a JSON list, one entry a line."""
        entries = [_entry(piece, context=True) for piece in self.context] + [
            _entry(own_piece) for own_piece in self.pieces
        ]
        return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]"

    def halves(self) -> tuple[Chunk, ...]:
        """Return the chunk in two, or nothing if it cannot be parted."""
        middle = len(self.pieces) // 2
        if not middle:
            return ()
        first, second = self.pieces[:middle], self.pieces[middle:]
        return Chunk(first, self.context), Chunk(second, _shortened(first[-_CONTEXT_PIECES:]))


def chunks(
    messages: Sequence[Message],
    *,
    limit_tokens: int,
    speakers: Sequence[Role] = SPOKEN,
    before: Sequence[Message] = (),
    known_places: Collection[int] = (),
) -> list[Chunk]:
    """Return the conversation in chunks of about `limit_tokens`, those without a word of the `speakers` left out.

    Memories that were recalled into a message are taken out, and a message that is blank then is not shown. Each chunk
    shows what was said just before it as context: the end of the chunk before, of `before`, or messages whose indices
    are `known_places`, which are shown for nothing else.
    """
    earlier = [Piece(-1, message, message.content) for message in before if message.role in SPOKEN]
    all_pieces = [*earlier, *_pieces(messages)]
    place = {id(piece): position for position, piece in enumerate(all_pieces)}
    fresh = [piece for piece in all_pieces if piece.number >= 0 and piece.number not in known_places]
    return [
        Chunk(tuple(pieces), _shortened(all_pieces[: place[id(pieces[0])]]))
        for pieces in _filled(fresh, limit_tokens)
        if any(piece.message.role in speakers for piece in pieces)
    ]


def _pieces(messages: Sequence[Message]) -> Iterator[Piece]:
    for number, message in enumerate(messages):
        if message.role in SPOKEN:
            for text in split_text(strip_recalled(message.content), _MAX_PIECE_CHARS):
                yield Piece(number, message, text)


def _filled(pieces: Sequence[Piece], limit_tokens: int) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        tokens = estimate_tokens(piece.text) + 20  # the entry around it
        if batch and size + tokens > limit_tokens:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += tokens
    if batch:
        yield batch


def _shortened(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    return tuple(
        Piece(piece.number, piece.message, piece.text[-_CONTEXT_CHARS:]) for piece in pieces[-_CONTEXT_PIECES:]
    )


def _entry(piece: Piece, *, context: bool = False) -> dict[str, Any]:
    message = piece.message
    entry: dict[str, Any] = {"context": True} if context else {"message": piece.number}
    entry["role"] = message.role.value
    if message.name:
        entry["name"] = message.name
    if message.timestamp is not None:
        entry["date"] = f"{message.timestamp:%Y-%m-%d %A}"
    return entry | {"text": piece.text}
