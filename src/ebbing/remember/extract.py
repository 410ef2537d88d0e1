"""Facts from messages, by the rules of the language packs and without a model.

A message becomes sentences, a sentence becomes statements (one a clause), a statement meets the rules; the first rule
that matches makes a fact in the third person. Questions, conditions, quotations, games and tasks never get that far.
Pure and deterministic; a message of any content costs at most its first 4,000 characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.decision import Fact
from ebbing.domain.message import Message
from ebbing.domain.record import Role
from ebbing.language.chinese import ChineseReader
from ebbing.language.clauses import sentences
from ebbing.language.detect import detect
from ebbing.language.english import EnglishReader
from ebbing.language.rulebook import Pack, Packs, Rule
from ebbing.language.statement import Reader, Sentence, Speaker, Statement
from ebbing.remember.replies import completed

MAX_FACTS: Final = 32
"""Facts taken from one message."""
_HEDGED: Final = 0.6
"""Confidence of what the speaker was not sure of: under the default write threshold of 0.7."""
_SPEAKERS: Final = {"en": Speaker("User", "the assistant"), "zh": Speaker("用户", "助手")}
_AGENTS: Final = {"en": Speaker("Assistant", "the user"), "zh": Speaker("助手", "用户")}
_AGENT_CATEGORIES: Final = frozenset({"preference", "fact", "identity", "constraint"})


def extract(
    messages: Sequence[Message], *, now: datetime, packs: Packs | None = None, agent_facts: bool = False
) -> list[Fact]:
    """The facts that the messages state, in order, each once.

    User messages tell about the user; with `agent_facts`, assistant messages tell about the agent (`about="agent"`).
    System and tool messages are never read. `now` is the moment to which "tomorrow" refers when a message has no
    timestamp of its own.
    """
    packs = packs or Packs.load()
    found: list[Fact] = []
    seen: set[str] = set()
    before: Message | None = None
    for index, message in enumerate(messages):
        if message.role is Role.USER or (agent_facts and message.role is Role.ASSISTANT):
            for fact in _facts(message, before, packs=packs, now=now):
                if (key := fact.text.casefold()) not in seen:
                    seen.add(key)
                    found.append(replace(fact, source=index))
        before = message
    return found


def _facts(message: Message, before: Message | None, *, packs: Packs, now: datetime) -> list[Fact]:
    language = _main_language(message, before)
    pack = packs.by_language.get(language)
    if pack is None or pack.gates["message"].search(message.content[:400]):
        return []
    said = sentences(message.content)
    if before is not None and before.role is not message.role:
        said = completed(before.content, said, pack)
    agent = message.role is Role.ASSISTANT
    people: list[Statement] = []
    found: list[Fact] = []
    for sentence in said:
        if pack.gates["paste"].search(sentence.text):
            break
        for statement in _statements(sentence, message, packs, language=language, people=people):
            if statement.relation:
                people.append(statement)
            fact = _fact(statement, packs.by_language[_language(sentence, language)], agent=agent)
            if fact is not None and len(found) < MAX_FACTS:
                found.append(replace(fact, source_text=sentence.text))
    return found


def _main_language(message: Message, before: Message | None) -> str:
    """The message's own language; a bare number or name answers in the language of the question."""
    own = detect(message.content)
    return detect(before.content) if own == "und" and before is not None else own


def _language(sentence: Sentence, otherwise: str) -> str:
    own = detect(sentence.text)
    return own if own in _SPEAKERS else otherwise


def _statements(
    sentence: Sentence, message: Message, packs: Packs, *, language: str, people: Sequence[Statement]
) -> list[Statement]:
    language = _language(sentence, language)
    pack = packs.by_language.get(language)
    if pack is None:
        return []
    speakers = _AGENTS if message.role is Role.ASSISTANT else _SPEAKERS
    speaker = speakers[language]
    if message.name:
        speaker = replace(speaker, name=message.name)
    return _reader(pack).read(sentence, speaker, people)


_READERS: Final[dict[int, tuple[Pack, Reader]]] = {}


def _reader(pack: Pack) -> Reader:
    known = _READERS.get(id(pack))
    if known is None or known[0] is not pack:
        known = (pack, EnglishReader(pack) if pack.language == "en" else ChineseReader(pack))
        _READERS[id(pack)] = known
    return known[1]


def _fact(statement: Statement, pack: Pack, *, agent: bool) -> Fact | None:
    for reading in _readings(statement, pack):
        for rule in pack.rules[statement.who]:
            groups = _match(rule, reading)
            if groups is not None:
                return _built(rule, reading, groups, pack=pack, agent=agent)
    return None


def _readings(statement: Statement, pack: Pack) -> list[Statement]:
    """The statement, and the same in another tense ("I have been a nurse" also reads "I am a nurse")."""
    perfect = pack.tables.get("perfect", {})
    others = [
        replace(statement, predicate=now + statement.predicate[len(then) :])
        for then, now in perfect.items()
        if statement.predicate.startswith(then)
    ]
    return [statement, *others]


def _match(rule: Rule, statement: Statement) -> Mapping[str, str] | None:
    if (rule.negated == "no" and statement.negated) or (rule.negated == "only" and not statement.negated):
        return None
    for pattern in rule.patterns:
        found = pattern.match(statement.predicate)
        if found is None:
            continue
        whole = f"{statement.lead} {statement.predicate}"
        if rule.unless is not None and rule.unless.search(whole):
            return None
        if rule.needs is not None and not rule.needs.search(f"{whole} {statement.clause}"):
            return None
        return {name: text.strip(" ,") for name, text in found.groupdict().items() if text}
    return None


def _built(rule: Rule, statement: Statement, groups: Mapping[str, str], *, pack: Pack, agent: bool) -> Fact:
    value = groups.get("value") or groups.get("object") or groups.get("name")
    if value and rule.value_end is not None:
        value = rule.value_end.split(value, maxsplit=1)[0].strip()
    text = statement.text
    if rule.text is not None:
        text = rule.text.format_map(
            _Slots(groups, subject=statement.subject, owner=statement.owner, clause=statement.text)
        )
    polarity = -rule.polarity if statement.negated and rule.polarity > 0 else rule.polarity
    tags = tuple(dict.fromkeys([*rule.tags, *(["dislike"] if polarity < 0 and rule.type == "preference" else [])]))
    return Fact(
        text=text,
        type=rule.type,
        tags=tags,
        importance=rule.importance,
        confidence=_HEDGED if statement.hedged else rule.confidence,
        rule=rule.id,
        attribute=_attribute(rule, statement, groups, pack),
        value=value,
        about="agent" if agent else "user",
        polarity=polarity,
        object=groups.get("object") if polarity else None,
        hedged=statement.hedged,
        ended=statement.ended,
        corrects=statement.corrects,
    )


def _attribute(rule: Rule, statement: Statement, groups: Mapping[str, str], pack: Pack) -> str | None:
    if rule.attribute is None or (statement.negated and not statement.ended):
        return None
    name = rule.attribute.format_map(_Slots({key: text.lower() for key, text in groups.items()}))
    if name.endswith(".") or not name:
        return None
    name = pack.tables.get("attributes", {}).get(name, name)
    if statement.relation is None:
        return name
    return f"{statement.relation}.{name}" if statement.unique else None


class _Slots(dict[str, str]):
    """Groups for a wording; one that did not take part is empty."""

    def __init__(self, groups: Mapping[str, str], **more: str) -> None:
        super().__init__(groups, **more)

    def __missing__(self, key: str) -> str:
        return ""
