"""The language packs: every pattern that reads facts from text, as data, compiled once.

A pack is a TOML file; `packs/en.toml` and `packs/zh.toml` explain the small pattern language at their top, and
docs/extraction.md shows how to add to one. Patterns are Python regular expressions in which `{name}` stands for an
entry of the pack's `[words]` table (a list of words becomes an alternation, a string is taken as it is).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.domain.memory.record import MemoryType
from ebbing.language.patterns.lazy_pattern import Late, Lazily
from ebbing.language.patterns.pattern_compiler import Compiler, filled
from ebbing.language.patterns.prefilter import Sieve

LANGUAGES: Final = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say one kind of thing. `patterns` match from the first character to the last."""

    id: str
    type: MemoryType
    importance: float
    tags: tuple[str, ...]
    who: frozenset[str]
    """Whose statement it reads: `self`, `relation`, `clause` (the whole clause) or `order` (an imperative)."""
    patterns: tuple[Late, ...]
    unless: Late | None = None
    """Where this is found in the clause, the rule keeps silent."""
    needs: Late | None = None
    """Where this is not found in the clause, the rule keeps silent."""
    negated: str = "any"
    """`any`, `no` (not for a negated statement) or `only`."""
    polarity: int = 0
    attribute: str | None = None
    text: str | None = None
    """How the fact is worded; without it the clause is put into the third person."""
    confidence: float = 0.95
    value_end: Late | None = None
    """Where the value stops, if it stops before the end of its group."""
    dated: bool = False
    """Time words are made absolute ("next week" gets its date)."""
    lasts: bool = True
    """It reads who somebody is, and not what happens, is planned or is usual."""


@dataclass(frozen=True, slots=True)
class Reply:
    """How a short answer becomes a full sentence: what was asked, and what that makes of the answer."""

    question: Late
    answer: str
    yes: str | None = None
    no: str | None = None
    fits: Late | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A way to say something, and the plainer way that the rules know ("the kids are 7" says "my kids are 7")."""

    find: Late
    put: str
    """The plain wording; `{group}` stands for what was found."""
    of: str
    """What it is asked about: a `sentence`, or a `clause`."""


def rewritten(text: str, rewrites: Sieve[Rewrite]) -> str:
    """The text in plainer words, by each rewriting in order."""
    places = rewrites.places_in(text)
    while (place := next(places, None)) is not None:
        rewrite, find = rewrites.pairs[place]
        plain = find.made.sub(partial(_put, rewrite.put), text)
        if plain != text:
            text, places = plain, rewrites.places_in(plain, after=place)
    return text


def _put(put: str, match: re.Match[str]) -> str:
    return filled(put, match.groupdict())


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything one language knows about facts."""

    language: str
    rules: Mapping[str, Sieve[Rule]]
    """Rules by whose statement they read."""
    gates: Mapping[str, re.Pattern[str]]
    """What keeps a clause, a sentence or a message from being read, by name."""
    words: Mapping[str, re.Pattern[str]]
    """Compiled vocabularies and grammar that the language's reader asks for, by name."""
    tables: Mapping[str, Mapping[str, str]]
    """Word-for-word tables (spelling, relations, irregular verbs …), by name."""
    replies: Sieve[Reply]
    rewrites: Mapping[str, Sieve[Rewrite]]
    """By what they are asked about: a `sentence`, or a `clause`."""


@dataclass(frozen=True, slots=True)
class Packs:
    """The packs in use, by language."""

    by_language: Mapping[str, Pack] = field(default_factory=dict)

    @staticmethod
    def load(extra_paths: Iterable[Path | str] = ()) -> Packs:
        """The shipped packs, with the files at `extra_paths` added to them in order.

        A file names its language at the top (`language = "en"`). A rule with the id of an earlier one replaces it
        (`disabled = true` removes it); a new rule is asked before the shipped ones; words, gates and tables are merged
        by name. Raises `ConfigurationError` when a file cannot be read or a pattern does not compile.
        """
        paths = tuple(Path(path) for path in extra_paths)
        if not paths:
            return _shipped()
        packs = _read(paths)
        for pack in packs.by_language.values():
            for names in (pack.words, pack.gates):
                dict(names)
        return packs


@lru_cache(maxsize=1)
def _shipped() -> Packs:
    return _read(())


def _read(paths: tuple[Path, ...]) -> Packs:
    shared = _parse("categories.toml", (files("ebbing.language") / "packs" / "categories.toml").read_text("utf-8"))
    sources = {
        name: _parse(name, (files("ebbing.language") / "packs" / f"{name}.toml").read_text("utf-8"))
        for name in LANGUAGES
    }
    for path in paths:
        try:
            extra = _parse(path.name, path.read_text("utf-8"))
        except OSError as error:
            raise ConfigurationError(f"cannot read the language pack {path.name}: {error.strerror}") from error
        language = str(extra.get("language", ""))
        if language not in sources:
            raise ConfigurationError(f"the language pack {path.name} must name its language: {' or '.join(LANGUAGES)}")
        sources[language] = _merged(sources[language], extra)
    made = partial(_pack, sources=sources, categories=shared["category"], at_once=bool(paths))
    return Packs(Lazily(sources, made))


def _parse(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"the language pack {name} is not valid TOML: {error}") from error


def _merged(base: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    rules = {rule["id"]: rule for rule in base.get("rule", ())}
    new: dict[str, Any] = {}
    for rule in extra.get("rule", ()):
        (rules if rule["id"] in rules else new)[rule["id"]] = rule
    merged = {**base, "rule": [*new.values(), *rules.values()]}
    for table in ("words", "gates", "category"):
        merged[table] = {**base.get(table, {}), **extra.get(table, {})}
    merged["tables"] = {
        name: {**base.get("tables", {}).get(name, {}), **extra.get("tables", {}).get(name, {})}
        for name in {*base.get("tables", {}), *extra.get("tables", {})}
    }
    for more in ("reply", "rewrite"):
        merged[more] = [*extra.get(more, ()), *base.get(more, ())]
    return merged


def _pack(language: str, *, sources: Mapping[str, Any], categories: Mapping[str, Any], at_once: bool) -> Pack:
    data = sources[language]
    words: dict[str, str | list[str]] = {
        name: entry.split() if isinstance(entry, str) and entry.startswith("\n") else entry
        for name, entry in data.get("words", {}).items()
    }
    compiler, gates = Compiler(language, words, at_once=at_once), data.get("gates", {})
    rules = _rules(data, {**categories, **data.get("category", {})}, compiler=compiler)
    rewrites = [_rewrite(entry, compiler) for entry in data.get("rewrite", ())]
    replies = [_reply(entry, compiler) for entry in data.get("reply", ())]
    return Pack(
        language=language,
        rules={
            who: Sieve(those, lambda rule: rule.patterns, language=language) for who, those in _by_who(rules).items()
        },
        gates=Lazily(gates, lambda name: compiler.made(gates[name], f"gate {name}")),
        words=Lazily(words, lambda name: compiler.made(f"{{{name}}}", f"words {name}")),
        tables=data.get("tables", {}),
        replies=Sieve(
            replies,
            lambda item: (item.question,),
            language=language,
        ),
        rewrites={
            of: Sieve(
                [rewrite for rewrite in rewrites if rewrite.of == of], lambda item: (item.find,), language=language
            )
            for of in ("sentence", "clause")
        },
    )


def _rules(data: Mapping[str, Any], categories: Mapping[str, Any], *, compiler: Compiler) -> list[Rule]:
    entries = (entry for entry in data.get("rule", ()) if not entry.get("disabled"))
    return [_rule(entry, categories, compiler=compiler) for entry in entries]


def _by_who(rules: Iterable[Rule]) -> dict[str, tuple[Rule, ...]]:
    rules = list(rules)
    return {who: tuple(rule for rule in rules if who in rule.who) for who in ("self", "relation", "clause", "order")}


def _rewrite(entry: Mapping[str, Any], compiler: Compiler) -> Rewrite:
    return Rewrite(compiler(entry["find"], f"rewrite of a {entry['of']}"), entry["put"], entry["of"])


def _rule(entry: Mapping[str, Any], categories: Mapping[str, Any], *, compiler: Compiler) -> Rule:
    where = f"rule {entry.get('id', '?')}"
    try:
        category = categories[entry["category"]]
        patterns = entry["match"]
        rule = Rule(
            id=entry["id"],
            type=MemoryType(entry.get("type", category["type"])),
            importance=float(entry.get("importance", category["importance"])),
            tags=tuple(entry.get("tags", category["tags"])),
            who=frozenset(entry.get("who", ["self"])),
            patterns=tuple(
                compiler(rf"(?:{pattern})\Z", where)
                for pattern in ([patterns] if isinstance(patterns, str) else patterns)
            ),
            negated=entry.get("negated", "any"),
            polarity=int(entry.get("polarity", category.get("polarity", 0))),
            attribute=entry.get("attribute"),
            text=entry.get("text"),
            confidence=float(entry.get("confidence", 0.95)),
            dated=bool(entry.get("dated", category.get("dated", False))),
            lasts=bool(entry.get("lasts", category.get("lasts", True))),
        )
    except (KeyError, ValueError) as error:
        raise ConfigurationError(f"language pack, {where}: {error} is missing or not allowed") from error
    return replace(
        rule,
        unless=compiler(entry["unless"], where) if "unless" in entry else None,
        needs=compiler(entry["needs"], where) if "needs" in entry else None,
        value_end=compiler(entry["value_end"], where) if "value_end" in entry else None,
    )


def _reply(entry: Mapping[str, Any], compiler: Compiler) -> Reply:
    where = "reply"
    return Reply(
        question=compiler(entry["question"], where),
        answer=entry["answer"],
        yes=entry.get("yes"),
        no=entry.get("no"),
        fits=compiler(rf"(?:{entry['fits']})\Z", where) if "fits" in entry else None,
    )


def simplified(text: str) -> str:
    """The text with traditional characters in their simplified forms, character by character."""
    return text if text.isascii() else text.translate(_forms())


@lru_cache(maxsize=1)
def _forms() -> dict[int, int]:
    script = Packs.load().by_language["zh"].tables["script"]
    return str.maketrans(script["traditional"], script["simplified"])
