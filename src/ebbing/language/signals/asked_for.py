"""Which attribute of a person a question asks for: "allergic to peanuts" answers what somebody must not eat."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.patterns.rule_pack import simplified
from ebbing.language.text.analyzer import normalise

_LONGEST: Final = 80
"""Characters of a question that asks for one attribute and nothing else."""
_EDGES: Final = " \t\n?!.,;:。，；：~～"
_PARTICLES: Final = re.compile(r"(?:[来]着|[吗呢啊呀嘛])+$")
_OPENING: Final = re.compile(r"^(?:请问|那么?|and |so |please tell me,? ?)+")


@dataclass(frozen=True, slots=True)
class Topic:
    """An attribute that can be asked for."""

    name: str
    attributes: tuple[str, ...]
    """How the attributes of facts begin that answer; those of other people have an owner in front."""
    words: tuple[str, ...]
    """Words of constraints without an attribute that answer."""


def topic_of(question: str) -> Topic | None:
    """Return what a question asks for of the person themselves; None where its form leaves a doubt."""
    if len(question) > _LONGEST:
        return None
    normal = _OPENING.sub("", simplified(normalise(question)).replace("’", "'").strip(_EDGES))
    normal = _PARTICLES.sub("", normal).strip(_EDGES)
    topics = _topics()["en" if normal.isascii() else "zh"]
    return next((topic for topic, patterns in topics if any(pattern.fullmatch(normal) for pattern in patterns)), None)


@lru_cache(maxsize=1)
def _topics() -> Mapping[str, Sequence[tuple[Topic, Sequence[re.Pattern[str]]]]]:
    """Read by language what can be asked for, and the patterns of the questions that do."""
    data: dict[str, Any] = tomllib.loads((files("ebbing.language") / "packs" / "asked_for.toml").read_text("utf-8"))
    return {
        language: [
            (
                Topic(topic["name"], tuple(topic["attributes"]), tuple(topic["words"])),
                [
                    re.compile(pattern.replace("{who}", who).replace("{whose}", data["whose"][language]))
                    for pattern in topic[language]
                ],
            )
            for topic in data["topic"]
        ]
        for language, who in data["who"].items()
    }
