"""What all stores need for a move: how far it is, as a text for the store that is being filled."""

from __future__ import annotations

import json
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.ports.stores.store_tables import MoveState

ORPHANS: Final = (
    "the store holds rows that belong to nobody, and cannot be moved like this: `ebbing doctor --verify` says which"
)
"""What is said where a row has no owner."""


def text_of(state: MoveState) -> str:
    """Return the state as JSON."""
    return json.dumps([state.source, state.remaining, state.last], ensure_ascii=False)


def state_of(text: str, source: str) -> MoveState:
    """Return the state that a text holds.

    Raises:
        InvalidInputError: it is that of a move from another place.
    """
    earlier, remaining, last = json.loads(text)
    if earlier != source:
        raise InvalidInputError(
            f"a move from {earlier} is half done there: finish that one, or name another place (what is there of it"
            " can be deleted)"
        )
    return MoveState(source, tuple(remaining), None if last is None else tuple(last))
