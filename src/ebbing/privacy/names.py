"""Names of speakers as names: short, on one line, and no order to anybody."""

from __future__ import annotations

import hashlib
from typing import Final

from ebbing.privacy.guarding.quote import quote
from ebbing.privacy.guarding.trust import instruction_shaped

MAX_LENGTH: Final = 64
"""Characters of a name."""
_DIGITS: Final = 6


def person_name(text: str) -> str | None:
    """The name on one line; None if nothing readable is left of it.

    What is longer than a name, or gives an order, becomes `speaker-` and a number made of it: so two speakers never
    become one, and the text is kept nowhere.
    """
    line = quote(text, 4 * MAX_LENGTH)
    if not line:
        return None
    if len(text) <= MAX_LENGTH and instruction_shaped(line) is None:
        return line
    return f"speaker-{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()[:_DIGITS]}"
