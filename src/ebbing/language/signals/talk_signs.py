"""Signs of a talk: what passes, what is a joke, and what a wish says of how long it holds (`packs/talk.toml`)."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any


def shows(sign: str, text: str) -> bool:
    """Return whether a text shows a sign, which `packs/talk.toml` names."""
    return _signs()[sign].search(text) is not None


def first_match(sign: str, text: str) -> re.Match[str] | None:
    """Return where a text first shows a sign; None where it does not."""
    return _signs()[sign].search(text)


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    path = files("ebbing.language") / "packs" / "talk.toml"
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    signs: dict[str, re.Pattern[str]] = {}
    for sign, patterns in data.items():
        signs[sign] = re.compile("|".join(patterns), re.IGNORECASE)
    return signs
