"""Rules for what a sentence asks, as data: lists of words, patterns made of them, examples and counter-examples."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.privacy.redaction.fold_text import INVISIBLE

MAX_READ: Final = 20_000
"""Characters of a text that are read, half from its beginning and half from its end."""
MAX_SENTENCE: Final = 400
"""Characters of a sentence that are read at once; a longer one is read in overlapping parts."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to ask for something."""

    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    """A sentence in which this stands does not ask in this way."""
    examples: tuple[str, ...]
    counter: tuple[str, ...]
    """Sentences like the examples that ask for nothing."""
    more: Mapping[str, str]
    """What else the file says of the rule."""

    def found_in(self, sentence: str) -> re.Match[str] | None:
        """Where the sentence asks in this way."""
        match = self.pattern.search(sentence)
        return None if match is None or (self.unless is not None and self.unless.search(sentence)) else match


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of a file, in its order."""

    rules: tuple[Rule, ...]
    needs: tuple[str, ...]
    """One of these stands, in lower case, in whatever the rules find."""
    others: Mapping[str, tuple[re.Pattern[str], ...]]
    """Further patterns of the file, by name."""

    def may_stand_in(self, text: str) -> bool:
        """Whether a text is worth reading."""
        return any(map(text.lower().__contains__, self.needs))


@lru_cache(maxsize=4)
def grammar(name: str) -> Grammar:
    """The grammar of a file of this room, by its name without the ending."""
    data: dict[str, Any] = tomllib.loads((files("ebbing.privacy") / f"{name}.toml").read_text("utf-8"))
    words: Mapping[str, str] = data["words"]

    def compiled(pattern: str) -> re.Pattern[str]:
        while _NAME.search(pattern):
            pattern = _NAME.sub(lambda match: words[match[1]], pattern)
        return re.compile(pattern, re.VERBOSE | re.IGNORECASE)

    def rule_of(table: Mapping[str, Any]) -> Rule:
        return Rule(
            pattern=compiled(table["pattern"]),
            unless=compiled(table["unless"]) if "unless" in table else None,
            examples=tuple(table["examples"]),
            counter=tuple(table["counter"]),
            more={key: value for key, value in table.items() if isinstance(value, str)},
        )

    others = {key: tuple(map(compiled, patterns)) for key, patterns in data.get("others", {}).items()}
    return Grammar(rules=tuple(map(rule_of, data["rule"])), needs=tuple(data["needs"]), others=others)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, on one line each, in one width and without invisible characters."""
    for line in _plain(text).split("\n"):
        for sentence in _END.split(line):
            words = " ".join(sentence.split())
            for start in range(0, max(len(words) - MAX_SENTENCE // 2, 1), MAX_SENTENCE // 2):
                yield words[start : start + MAX_SENTENCE]


def without_quotes(text: str) -> str:
    """The text without what stands in quotation marks, and without lines behind ">"."""
    return _QUOTED_LINE.sub("", _QUOTED.sub("", text))


_NAME: Final = re.compile(r"\{([a-z_]+)\}")
_END: Final = re.compile(
    r"(?<=[。！？!?])|(?<=\.)(?<!\b[DMS][rst]\.)(?<!\bMrs\.)(?<!\be\.g\.)(?=\s)|(?<=\.[\"'”’])(?=\s)"
)
_QUOTED: Final = re.compile(r"“[^”\n]{0,400}”|\"[^\"\n]{0,400}\"|「[^」\n]{0,400}」|『[^』\n]{0,400}』")
_QUOTED_LINE: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)


def _plain(text: str) -> str:
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    return INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
