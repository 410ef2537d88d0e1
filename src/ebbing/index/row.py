"""One memory as a store hands it over to be searched."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """What a store hands over for one memory, flat, so that an owner of ten thousand loads in milliseconds."""

    seq: int
    """Rises with every insert of the owner; names the row for good."""
    id: str
    kind: str
    role: str | None
    type: str
    layer: str
    agent: str | None
    run: str | None
    actor: str | None
    created: int
    """Microseconds since 1970 (UTC), like all times here."""
    valid_from: int | None
    valid_to: int | None
    expires: int | None
    digest: int
    importance: float
    strength: float
    recorded: int
    deleted: int | None
    """When it left the answers: it was deleted then, or retired."""
    alive: int
    length: int | None
    """From here on the index entry: None where it is missing."""
    flags: int | None
    numbers: int | None
    terms: bytes | None
    model_id: str | None
    vector: bytes | None
    attribute: str | None = None
    """Again of the memory: what it gives the value of, and what it likes or dislikes."""
    object: str | None = None
    mentions: int = 1
    utc_offset_minutes: int | None = None
    """Of the clock of the one who said it."""
