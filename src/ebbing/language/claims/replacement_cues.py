"""What a statement says is otherwise now, where no attribute tells it: in which frame, of which thing, which aim.

What is compared in `domain.conflict.replacement` is read here, by the patterns of `changes`.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.domain.conflict.claim import Becomes, Otherwise, Words
from ebbing.domain.conflict.replacement import sort_of
from ebbing.language.claims.change_patterns import Changes
from ebbing.language.claims.normalize_values import words_of
from ebbing.language.claims.topic_changes_zh import pairs_of
from ebbing.language.text.analyzer import stems
from ebbing.language.text.caches import kept_of_texts
from ebbing.language.text.normalize_numbers import numbered

_PIECE: Final = re.compile(r"[\u4e00-\u9fff]|[a-z0-9][a-z0-9.+#'-]*")
_WORD: Final = re.compile(r"[a-z0-9&]+")
_BARE_VERBS: Final = {"goe": "go", "doe": "do", "ha": "have"}
"""Stems of verbs that their third person hides."""
_ATTENDS: Final = re.compile(r"User (?:goes|go) to (?:the )?[A-Z][\w&']*(?: [A-Z][\w&']*){0,2}$")
_OWNER: Final = re.compile(r"^user(?:'s)?\b")
_NAME: Final = {
    "en": re.compile(r"(?<=\S )[A-Z][\w.+#-]*|\b[a-z]+[A-Z]\w*"),
    "zh": re.compile(r"(?<![@A-Za-z0-9.])[A-Za-z][A-Za-z0-9.+#-]*"),
}


@kept_of_texts(512)
def read_otherwise(bare: str, attribute: str | None, *, language: str, pack: Changes) -> Otherwise:
    """What a text says, put as if it spoke of the person where it speaks of somebody else."""
    normal = numbered(bare.lower())
    said = {name: by_language[language] for name, by_language in pack.otherwise.items()}

    def says(name: str) -> bool:
        return said[name].search(normal) is not None

    names = frozenset(stem for name in _NAME[language].findall(bare) for stem in _in_order(name.lower(), language))
    reached = words_of(said["reached"].sub(" ", normal), pack) if said["sure"].search(normal) else frozenset()
    return Otherwise(
        order=_in_order(said["out"].sub(" ", _OWNER.sub("", normal)), language),
        names=names,
        swapped=says("swapped"),
        swaps=says("swaps"),
        rivals=(rivals := rivals_of(bare, pack)),
        seeks=_seeks(rivals, words_of(normal, pack), attribute=attribute, pack=pack)
        if says("changes")
        else frozenset(),
        dwells=says("dwells"),
        works=says("works"),
        attends=_ATTENDS.match(bare) is not None,
        many=says("many"),
        several=says("several"),
        instead=found.group("does") if (found := said["instead"].search(normal)) else "",
        tools=says("tools"),
        often=_often(normal, said["often"], language=language, pack=pack),
        becomes=_becomes(bare, names, language=language, pack=pack),
        aim=says("aim"),
        reached=reached,
    )


def _seeks(rivals: frozenset[tuple[str, str]], words: Words, *, attribute: str | None, pack: Changes) -> frozenset[str]:
    """The terms of the other things of a kind, of what a word stands for, and of homes or work."""
    found = [pack.sought[kind] for kind, _ in rivals]
    found += [pack.sought[word] for word in words if word in pack.sought]
    matter = (attribute or "").rpartition(".")[2]
    return frozenset().union(*found, pack.sought.get(f"{matter} matters", frozenset()))


def rivals_of(text: str, pack: Changes) -> frozenset[tuple[str, str]]:
    """Kind and name of the things in a text of which somebody uses one at a time."""
    if text.isascii() and pack.rival_words.isdisjoint(_WORD.findall(text.lower())):
        return frozenset()
    return frozenset((found.lastgroup or "", found.group().lower()) for found in pack.rivals.finditer(text))


def _in_order(normal: str, language: str) -> tuple[str, ...]:
    if language == "zh":
        return tuple(_PIECE.findall(normal))
    return tuple(_BARE_VERBS.get(stem, stem) for stem in stems(normal))


def _often(normal: str, pattern: re.Pattern[str], *, language: str, pack: Changes) -> tuple[str, Words] | None:
    """How often, and what: in Chinese pairs of characters, else words that are no light verbs."""
    found = pattern.search(normal)
    if found is None:
        return None
    beside = f"{normal[: found.start()]},{normal[found.end() :]}"
    if language == "zh":
        return found.group(), pairs_of(pack.otherwise["out"]["zh"].sub(",", beside))
    return found.group(), words_of(beside, pack) - pack.light


def _becomes(bare: str, names: Words, *, language: str, pack: Changes) -> tuple[Becomes, ...]:
    found: list[Becomes] = []
    for becoming in pack.becomes:
        pattern = becoming.patterns.get(language)
        match = pattern.search(bare) if pattern else None
        if match is None:
            continue
        groups = {name.rstrip("23"): part for name, part in match.groupdict().items() if part}
        thing, value = groups.get("thing", ""), groups.get("value", "")
        sort = _sort(value, names, language=language, pack=pack)
        words = _thing(thing, language=language, pack=pack)
        if sort in becoming.sorts and words:
            found.append(Becomes(words, words_of(numbered(value.lower()), pack), sort))
    return tuple(dict.fromkeys(found))


def _thing(thing: str, *, language: str, pack: Changes) -> Words:
    """What names a thing: its words, in Chinese its last two characters."""
    if language == "en":
        return words_of(thing.lower(), pack)
    return words_of(thing.lower(), pack) if thing.isascii() else frozenset({thing.removesuffix("的")[-2:]})


def _sort(value: str, names: Words, *, language: str, pack: Changes) -> str:
    if pack.otherwise["when"][language].search(value.lower()):
        return "time"
    return sort_of(_in_order(numbered(value.lower()), language), names)
