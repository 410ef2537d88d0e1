"""Tentative facts: statements that no rule reads, kept if they are about a known person or end a known memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbing.domain.conflict.decision import Decision, Fact, Ignore, Supersede
from ebbing.language.claims.claims import attribute_of, without_speaker
from ebbing.language.claims.relations import aliases
from ebbing.language.parsing.subjects import is_bare
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.extraction.extractor import NAMED_RULE
from ebbing.remember.extraction.rule_extractor import CHANGE_RULE, extract
from ebbing.remember.facts.drafts import Draft, DraftContext, fact_draft
from ebbing.remember.facts.new_fact import KnownMemory, hints_from_fact, to_new_fact
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.reconcile.candidates import find_candidates
from ebbing.remember.reconcile.decide import decide
from ebbing.remember.vectors.embed_drafts import EmbedOptions, embed_drafts


async def drop_unmatched_tentative(
    store: MemoryStore,
    drafts: Sequence[tuple[Fact, Draft]],
    *,
    screened: Sequence[ScreenedMessage],
    context: DraftContext,
) -> list[tuple[Fact, Draft]]:
    """Return the facts without the tentative ones that touch nothing known, nor each other; by words alone, so at once.

    What is said of somebody by a name that is known is read as what is said of "my son Arjun".
    """
    inserts = await embed_drafts(EmbedOptions(), [draft for _, draft in drafts])
    new_facts = [to_new_fact(fact, insert) for (fact, _), insert in zip(drafts, inserts, strict=True)]
    candidates = await find_candidates(store, new_facts, scope=context.scope, now=context.now, calibration=None)
    decisions = decide(new_facts, candidates.by_fact, confidence_threshold=0.0)
    matched: list[tuple[Fact, Draft]] = []
    for (fact, draft), decision, memories in zip(drafts, decisions, candidates.by_fact, strict=True):
        source = screened[fact.source]
        whole = _fact_about_named_person(fact, memories, screened=source, context=context) if fact.tentative else None
        bare_value = _begins_with_value(fact)
        if whole is None and bare_value is not None:
            speaker = source.message.name
            whole = _in_words_of_ended_memory(fact, bare_value, decision=decision, memories=memories, speaker=speaker)
            if whole is None:
                continue
        if whole is not None:
            matched.append((whole, fact_draft(whole, source, context=context)))
        elif not fact.tentative or not (fact.rule == NAMED_RULE or isinstance(decision, Ignore)):
            matched.append((fact, draft))
    return matched


def _begins_with_value(fact: Fact) -> str | None:
    """Return the value that a statement begins with, so that it does not say of what it is one: "31 now"."""
    if fact.rule != CHANGE_RULE or not fact.tentative:
        return None
    _, value = attribute_of(fact.text, hints_from_fact(fact, None))
    return value if value and fact.text.casefold().startswith(value.casefold()) else None


def _in_words_of_ended_memory(
    fact: Fact, value: str, *, decision: Decision, memories: Sequence[KnownMemory], speaker: str | None
) -> Fact | None:
    """Return the fact with its value in the words of the memory that it ends, where that says no more than its own
    value.
    """
    if not isinstance(decision, Supersede):
        return None
    old = next((memory.record for memory in memories if memory.record.id == decision.memory_id), None)
    if old is None or not old.attribute or not old.value:
        return None
    if not is_bare(without_speaker(old.content, speaker), old.value):
        return None
    text = old.content.replace(old.value, value, 1)
    return replace(fact, text=text, attribute=old.attribute, value=value)


def _fact_about_named_person(
    fact: Fact, memories: Sequence[KnownMemory], *, screened: ScreenedMessage, context: DraftContext
) -> Fact | None:
    """Return the fact about one of the speaker's people whose name the statement begins with: "Arjun turned 8".

    Of two people of one name nobody could tell which one is meant.
    """
    speaker = (screened.message.name or "").casefold()
    words = {
        alias.word
        for memory in memories
        for alias in aliases(memory.record.content)
        if not speaker.startswith(alias.name.casefold()) and fact.text.startswith(f"{alias.name} ")
    }
    if len(words) != 1:
        return None
    whole = replace(screened.message, content=f"my {words.pop()} {fact.text}")
    read = extract([whole], now=context.now)
    return replace(read[0], source=fact.source, source_text=fact.source_text) if read else None
