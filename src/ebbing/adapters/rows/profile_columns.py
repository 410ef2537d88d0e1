"""Between the entries of a profile and the column in which a store keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ebbing.domain.memory.profile import ProfileEntry, entry_of, entry_values
from ebbing.language.text.caches import text_cache


def entries_text(entries: Sequence[ProfileEntry]) -> str:
    """Return what is stored of entries."""
    return json.dumps([entry_values(entry) for entry in entries], ensure_ascii=False)


@text_cache(256)
def entries_of(text: str | None) -> tuple[ProfileEntry, ...]:
    """Return the entries that are stored so."""
    return tuple(map(entry_of, json.loads(text))) if text else ()
