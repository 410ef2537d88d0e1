"""Words that have to do with a topic without naming it: a boss with a job, a cinema with movies.

The groups are data (`packs/related.toml`), for topics that people often want forgotten. A topic that no group names has
no such words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from ebbing.language.text.analyzer import normalise, stems


@dataclass(frozen=True, slots=True)
class Related:
    """One group of words."""

    english: tuple[tuple[str, ...], ...]
    """Stems that stand side by side."""
    chinese: tuple[str, ...]
    but: tuple[str, ...]
    """Chinese words that hold one of these and mean something else."""
    attributes: frozenset[str]

    def word_in(self, text: str) -> str | None:
        """The first of the words that a text holds, as the group has it; None if it holds none."""
        normal = normalise(text)
        text_stems = stems(normal)
        for words in self.english:
            if any(tuple(text_stems[at : at + len(words)]) == words for at in range(len(text_stems) - len(words) + 1)):
                return " ".join(words)
        for other in self.but:
            normal = normal.replace(other, " ")
        return next((word for word in self.chinese if word in normal), None)


def related_to(topic: str) -> Related | None:
    """The group that a topic names; None if there is none."""
    normal = normalise(topic)
    return _groups().get(tuple(stems(normal)) or (normal,)) or _groups().get((normal,))


@lru_cache(maxsize=1)
def _groups() -> dict[tuple[str, ...], Related]:
    data = tomllib.loads((files("ebbing.language") / "packs" / "related.toml").read_text("utf-8"))
    groups: dict[tuple[str, ...], Related] = {}
    for group in data["group"]:
        related = Related(
            english=_stemmed(group.get("en", ())),
            chinese=tuple(group.get("zh", ())),
            but=tuple(group.get("but", ())),
            attributes=frozenset(group.get("attributes", ())),
        )
        for name in group["names"]:
            groups.setdefault(tuple(stems(name)) or (name,), related)
    return groups


def _stemmed(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(stems(word)) for word in words)
