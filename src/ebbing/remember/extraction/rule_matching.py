"""One statement meets the rules of its language: the first rule that matches makes a fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.record import MemoryType
from ebbing.language.dates.resolve import BEGINNING, FOREVER, absolute, resolve
from ebbing.language.patterns.lazy_pattern import Late
from ebbing.language.patterns.rule_pack import Pack, Rule
from ebbing.language.text.statement import Statement

HABIT: Final = "habit"
"""The tag of what is usual: its rules need a word for how often."""
_WORDS: Final = re.compile(r"\w{2}")
HEDGED_CONFIDENCE: Final = 0.6
"""Confidence of what the speaker was not sure of: under the default write threshold of 0.7."""


def fact_of(statement: Statement, pack: Pack, *, said_at: datetime) -> Fact | None:
    """Return the fact that a statement holds by the first rule that matches; None when no rule does."""
    readings = [*_readings(statement, pack), *([statement.implied] if statement.implied is not None else [])]
    for reading in readings:
        rules = pack.rules[reading.who].found_in(reading.predicate, from_start=True)
        fact = _first(rules, reading, pack=pack, said_at=said_at)
        if fact is not None:
            return fact
    return None


def _first(rules: Iterable[tuple[Rule, Late]], statement: Statement, *, pack: Pack, said_at: datetime) -> Fact | None:
    """Return the fact by the first rule of which a pattern matches; a rule whose pattern matches in vain is asked no
    more.
    """
    silent: Rule | None = None
    for rule, pattern in rules:
        match = None if rule is silent else pattern.made.match(statement.predicate)
        if match is None:
            continue
        groups = _groups(match, rule, statement=statement)
        # A clause without a subject of its own may be about anything, unless the speaker comes into it.
        is_own = statement.who != "clause" or pack.words["own_words"].search(statement.clause) is not None
        if groups is not None and (rule.attribute or is_own):
            fact = _built(rule, statement, groups=groups, pack=pack)
            return _dated(fact, rule, said_at=said_at, language=pack.language)
        silent = rule
    return None


def _readings(statement: Statement, pack: Pack) -> list[Statement]:
    """Return the statement, and the same in another tense ("I have been a nurse" also reads "I am a nurse")."""
    return [statement] + [
        replace(statement, predicate=now + statement.predicate[len(then) :])
        for then, now in pack.tables.get("perfect", {}).items()
        if statement.predicate.startswith(then)
    ]


def _groups(match: re.Match[str], rule: Rule, *, statement: Statement) -> Mapping[str, str] | None:
    """Return the groups of what was found, in the speaker's own script; None when the rule keeps silent."""
    if (rule.negated == "no" and statement.negated) or (rule.negated == "only" and not statement.negated):
        return None
    context = f"{statement.lead} {statement.predicate}"
    if rule.unless is not None and rule.unless.made.search(context.lstrip()):
        return None
    if rule.needs is not None and not rule.needs.made.search(f"{context} {statement.clause}"):
        return None
    spoken = statement.spoken or statement.predicate
    often = rule.needs.made if rule.needs is not None and HABIT in rule.tags else None
    habit = match.groupdict().get("object")
    if often is not None and habit and _WORDS.search(often.sub("", habit)) is None:
        return None  # how often something is done, and not what
    return {name: spoken[slice(*match.span(name))].strip(" ,") for name, text in match.groupdict().items() if text}


def _built(rule: Rule, statement: Statement, *, groups: Mapping[str, str], pack: Pack) -> Fact:
    value = groups.get("value") or groups.get("object")
    if value and rule.value_end is not None:
        value = rule.value_end.made.split(value, maxsplit=1)[0].strip()
    slots = _Slots(groups, subject=statement.subject, owner=statement.owner, clause=statement.text)
    polarity = -rule.polarity if statement.negated and rule.polarity > 0 else rule.polarity
    disliked = polarity < 0 and rule.type is MemoryType.PREFERENCE
    return Fact(
        text=statement.text if rule.text is None else rule.text.format_map(slots),
        type=rule.type,
        tags=(*rule.tags, "dislike") if disliked else rule.tags,
        importance=rule.importance,
        confidence=HEDGED_CONFIDENCE if statement.hedged else rule.confidence,
        rule=rule.id,
        attribute=_attribute(rule, statement, groups=groups, pack=pack),
        value=value or None,
        polarity=polarity,
        object=groups.get("object") if polarity else None,
        hedged=statement.hedged,
        lasts=rule.lasts,
        ended=statement.ended,
        corrects=statement.corrects,
    )


def _attribute(rule: Rule, statement: Statement, *, groups: Mapping[str, str], pack: Pack) -> str | None:
    """Return the single-valued attribute that the fact gives, `sister.home` for somebody else's; None where it gives
    none.
    """
    if rule.attribute is None or (statement.negated and not statement.ended):
        return None
    name = rule.attribute.format_map(_Slots({key: text.lower() for key, text in groups.items()})).strip(" .")
    name = pack.tables.get("attributes", {}).get(name, name)
    if not name or name == "favourite":
        return None
    if statement.relation is None:
        return name
    return f"{statement.relation}.{name}" if statement.unique else None


def _dated(fact: Fact, rule: Rule, *, said_at: datetime, language: str) -> Fact:
    """Return the fact with its time made absolute: "next week" means something else tomorrow."""
    if not rule.dated:
        return fact
    all_spans = resolve(fact.text, now=said_at, language=language)
    bounded = (span for span in all_spans if span.start != BEGINNING and span.end != FOREVER)
    spans = [span for span in bounded if not span.doubtful]
    if not spans or (fact.type is MemoryType.EPISODIC and _looks_ahead(rule) and spans[0].direction == "past"):
        return fact
    text = absolute(fact.text, now=said_at, language=language)
    return replace(fact, text=text, happens_from=spans[0].start, happens_to=spans[0].end)


def _looks_ahead(rule: Rule) -> bool:
    """Return whether it tells a plan or a goal: a weekday read as a past one is then misread, and better left alone."""
    return not {"plan", "goal"}.isdisjoint(rule.tags)


class _Slots(dict[str, str]):
    """Groups for a wording; one that did not take part is empty."""

    def __missing__(self, key: str) -> str:
        return ""


_MAX_DETAIL_CHARS: Final = 12
"""Characters of a clause that is still a detail of an order."""
_JOINTS: Final = {"en": ", ", "zh": "，"}


def with_detail(
    fact: Fact, of: Statement, *, detail: Statement, own: Fact | None, pack: Pack, said_at: datetime
) -> Fact | None:
    """Return a fact that the statement `of` made, with what was said next, its dates made absolute; None where that is
    apart.

    `own` is the fact that the detail would be by itself. Only what is its statement retold is gone on with; what says
    an end stays alone.
    """
    is_retold = fact.text.startswith((of.text, absolute(of.text, now=said_at))) or fact.text.endswith(of.text)
    if own is not None or of.ended or not is_retold or not _goes_on(detail, of=of, pack=pack):
        return None
    addition = absolute(detail.text.removeprefix(detail.subject), now=said_at)
    return replace(fact, text=f"{fact.text}{_JOINTS[pack.language]}{addition}")


def _goes_on(detail: Statement, *, of: Statement, pack: Pack) -> bool:
    """Return whether what no rule reads is still about the same."""
    goes_on = pack.words.get("order_goes_on") if of.who == "order" else None
    is_short = len(detail.clause) <= _MAX_DETAIL_CHARS
    return detail.adds or (goes_on is not None and is_short and goes_on.match(detail.clause) is not None)
