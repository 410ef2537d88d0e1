"""Chinese text in simplified characters, so that both scripts are compared as one."""

from __future__ import annotations

from functools import lru_cache

from ebbing.language.patterns.rule_pack import Packs


def simplified(text: str) -> str:
    """The text with traditional characters in their simplified forms, character by character."""
    return text if text.isascii() else text.translate(_forms())


@lru_cache(maxsize=1)
def _forms() -> dict[int, int]:
    script = Packs.load().by_language["zh"].tables["script"]
    return str.maketrans(script["traditional"], script["simplified"])
