"""The language packs: every pattern that reads facts from text, as data, compiled once.

A pack is a TOML file; `packs/en.toml` and `packs/zh.toml` explain the small pattern language at their top, and
docs/extraction.md shows how to add to one. Patterns are Python regular expressions in which `{name}` stands for an
entry of the pack's `[words]` table (a list of words becomes an alternation, a string is taken as it is).
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

from ebbing.domain.errors import ConfigurationError
from ebbing.domain.record import MemoryType
from ebbing.language.caseless import caseless
from ebbing.language.lasting import NOTHING_LEARNED, Learned, learned

LANGUAGES: Final = ("en", "zh")
T = TypeVar("T")
_PLACE: Final = re.compile(r"\{([a-z_][a-z_0-9]*)\}")
_UNBOUNDED: Final = re.compile(r"(?<!\\)\)([*+])(?![+])")
_CAPITAL: Final = re.compile(r"(?<!\\)[A-Z]")
MAX_REPEATS: Final = 6
"""How often `*` and `+` repeat a group in a pack. Words that can be cut up in several ways ("真的" as 真 and 的) would
else cost exponential time on hostile text."""
_DEPTH: Final = 6
"""How deep words may stand inside words."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say one kind of thing. `patterns` match from the first character to the last."""

    id: str
    type: MemoryType
    importance: float
    tags: tuple[str, ...]
    who: frozenset[str]
    """Whose statement it reads: `self`, `relation`, `clause` (the whole clause) or `order` (an imperative)."""
    patterns: tuple[re.Pattern[str], ...]
    unless: re.Pattern[str] | None = None
    """Where this is found in the clause, the rule keeps silent."""
    needs: re.Pattern[str] | None = None
    """Where this is not found in the clause, the rule keeps silent."""
    negated: str = "any"
    """`any`, `no` (not for a negated statement) or `only`."""
    polarity: int = 0
    attribute: str | None = None
    text: str | None = None
    """How the fact is worded; without it the clause is put into the third person."""
    confidence: float = 0.95
    value_end: re.Pattern[str] | None = None
    """Where the value stops, if it stops before the end of its group."""
    dated: bool = False
    """Time words are made absolute ("next week" gets its date)."""
    weighed: bool = False
    """It is asked last, and only about what is likely to be worth keeping and of its type."""


@dataclass(frozen=True, slots=True)
class Reply:
    """How a short answer becomes a full sentence: what was asked, and what that makes of the answer."""

    question: re.Pattern[str]
    answer: str
    yes: str | None = None
    no: str | None = None
    fits: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A way to say something, and the plainer way that the rules know ("the kids are 7" says "my kids are 7")."""

    find: re.Pattern[str]
    put: str
    """The plain wording; `{group}` stands for what was found."""


def rewritten(text: str, rewrites: Iterable[Rewrite]) -> str:
    """The text in plainer words, by each rewriting in order."""
    for rewrite in rewrites:
        text = rewrite.find.sub(partial(_put, rewrite.put), text)
    return text


def _put(put: str, found: re.Match[str]) -> str:
    return filled(put, found.groupdict())


def filled(put: str, groups: Mapping[str, str | None]) -> str:
    """A plain wording with what was found put into it."""
    return _PLACE.sub(lambda place: groups.get(place.group(1)) or "", put)


@dataclass(frozen=True, slots=True)
class Cue:
    """What speaks for or against keeping a statement that no rule reads."""

    id: str
    find: re.Pattern[str]
    weight: float = 0.0
    """Log-odds that it adds where it is found, to what is learned of it; negative for what passes."""
    small: bool = False
    """It is written in small letters alone, and is looked for in a text put into them: three times as fast."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """When a statement that no rule reads is kept all the same."""

    least: float = math.inf
    """Log-odds of being worth it, from which it is."""
    understood: float | None = None
    """The same for the rules that are not weighed, about a statement whose subject is only understood."""
    doubted: float | None = None
    """The same under which what a rule has read is left all the same; without it nothing is."""
    detail: float = math.inf
    """The same for half a sentence that is no fact of its own and goes on about the fact before it."""
    passing: frozenset[str] = frozenset()
    """The cues of what is not even a detail."""
    cues: tuple[Cue, ...] = ()
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules that word it, by whose statement they read."""
    silent: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules that are switched off: what they would read is not kept."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything one language knows about facts."""

    language: str
    rules: Mapping[str, tuple[Rule, ...]]
    """Rules by whose statement they read."""
    gates: Mapping[str, re.Pattern[str]]
    """What keeps a clause, a sentence or a message from being read, by name."""
    words: Mapping[str, re.Pattern[str]]
    """Compiled vocabularies and grammar that the language's reader asks for, by name."""
    tables: Mapping[str, Mapping[str, str]]
    """Word-for-word tables (spelling, relations, irregular verbs …), by name."""
    replies: tuple[Reply, ...] = ()
    rewrites: Mapping[str, tuple[Rewrite, ...]] = field(default_factory=dict)
    """By what they are asked about: a `sentence`, or a `clause`."""
    weighing: Weighing = field(default_factory=Weighing)
    lasting: Learned = NOTHING_LEARNED
    """What is learned of the clauses that are worth remembering."""


class Lazily(Mapping[str, T]):
    """A mapping whose values are made when first asked for: compiling a pack takes a quarter of a second."""

    def __init__(self, names: Iterable[str], make: Callable[[str], T]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


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
        packs = _compiled(paths)
        for pack in packs.by_language.values():
            for names in (pack.words, pack.gates):
                dict(names)
        return packs


@lru_cache(maxsize=1)
def _shipped() -> Packs:
    return _compiled(())


def _compiled(paths: tuple[Path, ...]) -> Packs:
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
    return Packs(Lazily(sources, lambda language: _pack(language, sources[language], categories=shared["category"])))


def _parse(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"the language pack {name} is not valid TOML: {error}") from error


def _merged(base: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    rules = {rule["id"]: rule for rule in base.get("rule", ())}
    new: dict[str, Any] = {}
    for rule in extra.get("rule", ()):
        off = rule.get("disabled") and rule["id"] in rules
        entry = {**rules[rule["id"]], "disabled": True} if off else rule
        (rules if rule["id"] in rules else new)[rule["id"]] = entry
    merged = {**base, "rule": [*new.values(), *rules.values()]}
    for table in ("words", "gates", "category", "weighing"):
        merged[table] = {**base.get(table, {}), **extra.get(table, {})}
    merged["tables"] = {
        name: {**base.get("tables", {}).get(name, {}), **extra.get("tables", {}).get(name, {})}
        for name in {*base.get("tables", {}), *extra.get("tables", {})}
    }
    for more in ("reply", "rewrite", "cue"):
        merged[more] = [*extra.get(more, ()), *base.get(more, ())]
    return merged


class _Compiler:
    def __init__(self, language: str, words: Mapping[str, str | list[str]]) -> None:
        self._language = language
        self._words = words

    def __call__(self, pattern: str, where: str) -> re.Pattern[str]:
        try:
            return caseless(_UNBOUNDED.sub(_bounded, self.expand(pattern, where)))
        except re.error as error:
            raise ConfigurationError(f"language pack {self._language}, {where}: {error}") from error

    def cue(self, pattern: str, where: str) -> tuple[re.Pattern[str], bool]:
        """The pattern, and whether it is for a text in small letters."""
        expanded = self.expand(pattern, where)
        if _CAPITAL.search(expanded):
            return self(expanded, where), False
        try:
            return re.compile(_UNBOUNDED.sub(_bounded, expanded)), True
        except re.error as error:
            raise ConfigurationError(f"language pack {self._language}, {where}: {error}") from error

    def expand(self, pattern: str, where: str) -> str:
        for _ in range(_DEPTH):
            expanded = _PLACE.sub(lambda found: self._word(found.group(1), where), pattern)
            if expanded == pattern:
                return pattern
            pattern = expanded
        raise ConfigurationError(f"language pack {self._language}, {where}: words refer to each other in a circle")

    def _word(self, name: str, where: str) -> str:
        if name not in self._words:
            raise ConfigurationError(f"language pack {self._language}, {where}: no words named {name!r}")
        return alternation(self._words[name])


def _bounded(repeat: re.Match[str]) -> str:
    return ")" + ("{0," if repeat.group(1) == "*" else "{1,") + f"{MAX_REPEATS}}}"


def alternation(words: str | Iterable[str]) -> str:
    """One group that matches any of the words, the longest first; a string is taken as a pattern."""
    if isinstance(words, str):
        return f"(?:{words})"
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


def _pack(language: str, data: dict[str, Any], *, categories: Mapping[str, Any]) -> Pack:
    words: dict[str, str | list[str]] = {
        name: entry.split() if isinstance(entry, str) and entry.startswith("\n") else entry
        for name, entry in data.get("words", {}).items()
    }
    compiler = _Compiler(language, words)
    gates = data.get("gates", {})
    known = {**categories, **data.get("category", {})}
    entries = data.get("rule", ())
    rules = [_rule(entry, known, compiler=compiler) for entry in entries if not entry.get("disabled")]
    weighing = data.get("weighing", {})
    silent = [_rule(entry, known, compiler=compiler) for entry in entries if entry.get("disabled") and "match" in entry]
    return Pack(
        language=language,
        rules=_by_who(rule for rule in rules if not rule.weighed),
        gates=Lazily(gates, lambda name: compiler(gates[name], f"gate {name}")),
        words=Lazily(words, lambda name: compiler(f"{{{name}}}", f"words {name}")),
        tables=data.get("tables", {}),
        replies=tuple(_reply(entry, compiler) for entry in data.get("reply", ())),
        rewrites={
            of: tuple(_rewrite(entry, compiler) for entry in data.get("rewrite", ()) if entry["of"] == of)
            for of in ("sentence", "clause")
        },
        weighing=Weighing(
            least=float(weighing.get("least", math.inf)),
            understood=weighing.get("understood"),
            doubted=weighing.get("doubted"),
            detail=float(weighing.get("detail", math.inf)),
            passing=frozenset(weighing.get("passing", ())),
            cues=tuple(_cue(entry, compiler) for entry in data.get("cue", ())),
            rules=_by_who(rule for rule in rules if rule.weighed),
            silent=_by_who(silent),
        ),
        lasting=learned(language),
    )


def _by_who(rules: Iterable[Rule]) -> dict[str, tuple[Rule, ...]]:
    rules = list(rules)
    return {who: tuple(rule for rule in rules if who in rule.who) for who in ("self", "relation", "clause", "order")}


def _rewrite(entry: Mapping[str, Any], compiler: _Compiler) -> Rewrite:
    return Rewrite(compiler(entry["find"], f"rewrite of a {entry['of']}"), entry["put"])


def _cue(entry: Mapping[str, Any], compiler: _Compiler) -> Cue:
    find, small = compiler.cue(entry["find"], f"cue {entry['id']}")
    return Cue(entry["id"], find, float(entry.get("weight", 0.0)), small=small)


def _rule(entry: Mapping[str, Any], categories: Mapping[str, Any], *, compiler: _Compiler) -> Rule:
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
            weighed=bool(entry.get("weighed", False)),
        )
    except (KeyError, ValueError) as error:
        raise ConfigurationError(f"language pack, {where}: {error} is missing or not allowed") from error
    return replace(
        rule,
        unless=compiler(entry["unless"], where) if "unless" in entry else None,
        needs=compiler(entry["needs"], where) if "needs" in entry else None,
        value_end=compiler(entry["value_end"], where) if "value_end" in entry else None,
    )


def _reply(entry: Mapping[str, Any], compiler: _Compiler) -> Reply:
    where = "reply"
    return Reply(
        question=compiler(entry["question"], where),
        answer=entry["answer"],
        yes=entry.get("yes"),
        no=entry.get("no"),
        fits=compiler(rf"(?:{entry['fits']})\Z", where) if "fits" in entry else None,
    )
