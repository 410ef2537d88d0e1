"""What somebody wants forgotten, read from how they ask: "forget what I said about my ex", 忘记我说过的关于电影的内容.

The patterns are data (`packs/forget.toml`). A request that no pattern reads counts as the name of a topic.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import Role
from ebbing.language.dates.resolve import resolve
from ebbing.language.signals.vague_questions import is_weak
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.detect_language import detect

MAX_ASKED: Final = 500
"""Characters of a request that are read."""
RECENT: Final = timedelta(minutes=30)
"""How long ago something was said just now."""
_MARKS: Final = " .,!?。，！？~…"
_LANGUAGES: Final = ("zh", "en")
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SPEAKER: Final = {"i": Role.USER, "we": None, "you": Role.ASSISTANT}
_SPEAKER_ZH: Final = {"我": Role.USER, "我们": None, "咱们": None, "你": Role.ASSISTANT, "您": Role.ASSISTANT}


Spans = tuple[tuple[datetime, datetime], ...]
"""Times from, and up to but not including."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that memories may be about."""

    text: str
    """As it was written, without words that do not belong to it."""
    terms: frozenset[str]
    """What a text must hold to say it; not empty."""

    def is_said_in(self, terms: frozenset[str]) -> bool:
        """Whether a text with these terms (see `terms_of`) says it."""
        return self.terms <= terms


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget, read."""

    topics: tuple[Topic, ...] = ()
    """Any of them; empty where only a time is named."""
    parts: tuple[Topic, ...] = ()
    """The members of a list, for when the whole of it is said nowhere."""
    tastes: tuple[Topic, ...] = ()
    """Things of which only what somebody likes and wants is meant: "my film preferences"."""
    excepted: tuple[Topic, ...] = ()
    """What is to stay."""
    spans: Spans = ()
    """When it was said; empty for any time."""
    speaker: Role | None = None
    """Whose words are meant, where only somebody's are."""


def asked_to_forget(text: str, *, now: datetime) -> ForgetRequest:
    """What a request names; `now` is what "yesterday" goes by.

    Raises:
        InvalidInputError: it asks to keep something, to forget everything, or names nothing that can be looked for.
    """
    folded = " ".join(normalise(text[:MAX_ASKED]).split()).strip(_MARKS)
    packs = [_packs()[language] for language in _LANGUAGES if language == "en" or _HAN.search(folded)]
    for pack in packs:
        request, excepted = _apart(folded, pack)
        request = _peeled(request, pack)
        if pack.keeps.search(request):
            raise InvalidInputError("this asks to keep something: say what is to be forgotten")
        match = next((match for pattern in pack.asks if (match := pattern.fullmatch(request))), None)
        if match is not None:
            groups = {name: (group or "").strip(" ,，") for name, group in match.groupdict().items()}
            return replace(_named(groups, pack, now=now), excepted=excepted)
    request, excepted = _apart(folded, _pack_of(folded))
    return replace(_named({"topic": request}, _pack_of(folded), now=now), excepted=excepted)


def terms_of(text: str) -> frozenset[str]:
    """The terms of a text that topics are compared with."""
    return frozenset(query_terms(text))


def topic(text: str) -> Topic | None:
    """A topic of this name; None if it names nothing that can be looked for."""
    bare = _trimmed(normalise(text), _pack_of(text))
    terms = query_terms(bare)
    if not terms or is_weak(bare):
        return None
    content = frozenset(terms)
    # A pair of characters tells nothing if one of them alone is a stop word; one character tells less than its pairs.
    pairs = frozenset(term for term in terms if _HAN.match(term) and len(term) > 1 and content.issuperset(term))
    paired = frozenset("".join(pairs))
    rest = frozenset(term for term in terms if not _HAN.match(term) or (len(term) == 1 and term not in paired))
    return Topic(bare, pairs | rest) if pairs | rest else None


@dataclass(frozen=True, slots=True)
class _Pack:
    keeps: re.Pattern[str]
    front: re.Pattern[str]
    back: re.Pattern[str]
    asks: tuple[re.Pattern[str], ...]
    excepted: re.Pattern[str]
    everything: re.Pattern[str]
    tastes: tuple[re.Pattern[str], ...]
    split: re.Pattern[str]
    recently: re.Pattern[str]
    edges: frozenset[str]


def _apart(text: str, pack: _Pack) -> tuple[str, tuple[Topic, ...]]:
    """The request without its exceptions, and these."""
    excepted = [item for exception in pack.excepted.finditer(text) for item in _topics(exception["except"], pack)]
    return pack.excepted.sub("", text).strip(_MARKS), tuple(excepted)


def _peeled(text: str, pack: _Pack) -> str:
    """The request without its courtesies."""
    while True:
        shorter = text[match.end() :] if (match := pack.front.match(text)) else text
        shorter = shorter[: match.start()] if (match := pack.back.search(shorter)) else shorter
        if shorter == text or not shorter:
            return text
        text = shorter.strip(_MARKS)


def _named(groups: Mapping[str, str], pack: _Pack, *, now: datetime) -> ForgetRequest:
    """The topics and times that are named.

    Raises:
        InvalidInputError: nothing that can be looked for, or everything.
    """
    topic_text = groups.get("topic", "")
    about = _without_times(topic_text, now=now)
    spans = _just_now(now) if groups.get("lately") else _spans(groups.get("when", ""), pack, now=now)
    if not spans and not about:
        spans = _spans(topic_text, pack, now=now)
    is_bulk = not about or pack.everything.fullmatch(_trimmed(about, pack)) is not None
    if is_bulk and not spans:
        raise InvalidInputError("say what is to be forgotten, by a topic or a time; `delete_all` erases everything")
    named = None if is_bulk else topic(about)
    if named is None and not spans:
        raise InvalidInputError("this names no topic that could be looked for: say what is to be forgotten")
    parts = _topics(about, pack) if named else []
    who = {**_SPEAKER, **_SPEAKER_ZH}.get(groups.get("who", ""))
    return ForgetRequest(
        topics=(named,) if named else (),
        parts=tuple(parts) if len(parts) > 1 else (),
        tastes=_tastes(about, pack) if named else (),
        spans=spans,
        speaker=who if who is Role.ASSISTANT else None,
    )


def _topics(text: str, pack: _Pack) -> list[Topic]:
    return [found_topic for part in pack.split.split(text) if part and (found_topic := topic(part))]


def _tastes(text: str, pack: _Pack) -> tuple[Topic, ...]:
    """What a topic names the preferences of; empty where it names something else."""
    bare = _trimmed(text, pack)
    matched = next((match for pattern in pack.tastes if (match := pattern.fullmatch(bare))), None)
    about = topic(matched["about"]) if matched else None
    return (about,) if about else ()


def _spans(text: str, pack: _Pack, *, now: datetime) -> Spans:
    if not text:
        return ()
    if spans := tuple((span.start, span.end) for span in resolve(text, now=now)):
        return spans
    return _just_now(now) if pack.recently.search(text) else ()


def _just_now(now: datetime) -> Spans:
    return ((now - RECENT, now + RECENT),)


def _without_times(text: str, *, now: datetime) -> str:
    """The text without its time expressions: when something was said is no part of what it is about."""
    for span in reversed(resolve(text, now=now)):
        text = f"{text[: span.begin]} {text[span.finish :]}"
    return " ".join(text.split()).strip(" ,，的")


def _trimmed(text: str, pack: _Pack) -> str:
    """The text without words at its edges that do not belong to a topic."""
    text = text.strip(f"{_MARKS};:；：、\"'“”‘’「」")
    while True:
        if pack is _packs()["zh"]:
            longest = sorted(pack.edges, key=len, reverse=True)
            head = next((word for word in longest if text.startswith(word) and len(text) > len(word)), "")
            shorter = text[len(head) :]
            tail = next((word for word in ("的", "了") if shorter.endswith(word) and len(shorter) > 1), "")
            shorter = shorter.removesuffix(tail).strip()
        else:
            words = text.split()
            while len(words) > 1 and words[0] in pack.edges:
                words.pop(0)
            shorter = " ".join(words)
        if shorter == text:
            return text
        text = shorter


def _pack_of(text: str) -> _Pack:
    return _packs()["zh" if detect(text) == "zh" else "en"]


@lru_cache(maxsize=1)
def _packs() -> dict[str, _Pack]:
    data = tomllib.loads((files("ebbing.language") / "packs" / "forget.toml").read_text("utf-8"))
    return {language: _compiled(data[language]) for language in _LANGUAGES}


def _compiled(data: Mapping[str, Any]) -> _Pack:
    words: Mapping[str, str] = data["words"]

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(_PLACE.sub(lambda match: words[match[1]], pattern))

    return _Pack(
        keeps=compiled(data["keeps"]),
        front=compiled(data["front"]),
        back=compiled(f"(?:{data['back']})$"),
        asks=tuple(map(compiled, data["asks"])),
        excepted=compiled(data["except"]),
        everything=compiled(data["everything"]),
        tastes=tuple(map(compiled, data["tastes"])),
        split=compiled(data["split"]),
        recently=compiled(data["recently"]),
        edges=frozenset(data["edges"].split()),
    )
