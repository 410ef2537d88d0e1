"""The messages that a trained model finds worth remembering, as quotations that are ready to be stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.record import QUARANTINED, Kind, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, Shard, micros
from ebbing.language.text.quotation import quoted_words
from ebbing.ports.models.salience import Salience, SalienceModel
from ebbing.ports.stores.memory_store import Insert
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.extraction.answers import question_before
from ebbing.remember.extraction.extractor import Extraction
from ebbing.remember.extraction.salient_words import (
    LEAST,
    LEAST_ANSWERED,
    LEAST_AT_AN_END,
    LEAST_IN_COMPANY,
    LEAST_UNDERSTOOD,
    READ_BACK,
    Words,
    fact_in_own_words,
    leaves_out_whose,
    salient_fact,
    says_only_she,
    stated_words,
    words_around,
)
from ebbing.remember.facts.drafts import Draft, DraftContext, fact_draft
from ebbing.remember.facts.judged_words import Vector, judged_words, records_of, vectors_of, whole_vectors
from ebbing.remember.facts.leads import lead_before, talk_before
from ebbing.remember.facts.new_fact import NewFact, to_new_fact
from ebbing.remember.facts.outdated_memories import OutdatedMemories
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.vectors.embed_drafts import insert_of

_Judged = tuple[Words, Salience | None, Vector | None]
_COUNTS: Final = frozenset({MemoryType.CONSTRAINT, MemoryType.PREFERENCE})
_OF_HEALTH: Final = frozenset({"health", "diet"})


async def quotable_words(
    deps: AddDeps,
    drafts: Sequence[tuple[Fact, Draft]],
    *,
    screened: Sequence[ScreenedMessage],
    context: DraftContext,
    in_company: bool,
) -> tuple[list[Words], list[tuple[Fact, Draft]]]:
    """Return the words of facts that may stand in the words of their speaker, and the other facts.

    In a running talk, or one among people, a rule that retells takes a joke, a story and somebody else's news for the
    speaker's life. The words are what was said: of a message from which one fact was read all that it states, of
    another the clause of each. Without a salience model no fact stands in its own words.

    Args:
        in_company: the messages are of a running talk, or of one among people.
    """
    if not drafts or not in_company or judge_of(deps) is None:
        return [], list(drafts)
    attributes = _attributes_now(await deps.store.shard(context.scope), now=context.now)
    of_message = Counter(fact.source for fact, _ in drafts if not fact.tentative)
    of_clause = Counter((fact.source, fact.source_text) for fact, _ in drafts)
    quotable: list[Words] = []
    others: list[tuple[Fact, Draft]] = []
    for fact, draft in drafts:
        source, words = fact.source, None
        is_alone = of_message[source] == 1
        if _may_be_quoted(fact, screened[source]) and of_clause[source, fact.source_text] == 1:
            words = words_around(fact, screened, is_alone=is_alone)
        if words is None:
            others.append((fact, draft))
            continue
        is_needed = _is_needed(draft.record, fact.ended, known_attributes=attributes)
        quotable.append(replace(words, is_needed=is_needed))
    return quotable, others


def judge_of(deps: AddDeps) -> SalienceModel | None:
    """Return the salience model, if there is one for the vectors of the embedder."""
    model, embedder = deps.salience, deps.embedder
    is_for_it = model is not None and embedder is not None and embedder.model_id == model.model_id
    return model if is_for_it else None


def _may_be_quoted(fact: Fact, source: ScreenedMessage) -> bool:
    """Return whether the words of a fact can stand for it: a user says them of their life, and puts nothing right.

    An answer says nothing without its question.
    """
    if fact.sentence is not None:
        return False
    is_own = source.message.role is Role.USER and fact.about == "user" and fact.method == "rule"
    is_new = not (fact.tentative or fact.corrects or fact.instead_of)
    return is_own and is_new and fact.source_text is not None and quoted_words(fact.text) is None


def _is_needed(memory: MemoryRecord, is_over: bool, *, known_attributes: Collection[str]) -> bool:
    """Return whether a fact counts whatever its words are worth: somebody may not have something, or it changed."""
    if memory.type in _COUNTS or is_over or not _OF_HEALTH.isdisjoint(memory.tags):
        return True
    return memory.type is not MemoryType.PROCEDURAL and memory.attribute in known_attributes


def _attributes_now(shard: Shard, *, now: datetime) -> set[str]:
    """Return the attributes of which the owner has a value."""
    rows = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY)) & (shard.valid_to > micros(now))
    codes = {*shard.attribute[rows].tolist()}
    names = shard.attributes.items()
    return {name for name, code in names if code in codes}


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What the rules read of some messages."""

    facts: Sequence[NewFact]
    quotable: Sequence[Words]
    """Words from which a fact was read, which goes with their quotation."""
    places: Collection[int]
    """Of messages from which a fact is made, or that are known."""


async def salient_facts(
    deps: AddDeps,
    screened: Sequence[ScreenedMessage],
    *,
    episodes: Sequence[Insert],
    by_rules: RuleFacts,
    context: DraftContext,
    outdated: OutdatedMemories,
    extraction: Extraction,
) -> list[NewFact]:
    """Return a quotation of each message that is worth remembering and from which nothing else is made.

    What leaves a memory without ground tells how things are since then, so less is asked of it.

    Args:
        episodes: the messages with their vectors; without them nothing is judged, nor where they are stored already.
        outdated: finds what the messages put in doubt, and knows whether they are of a talk.
        extraction: knows what was said before the messages.
    """
    model = judge_of(deps)
    if model is None or not episodes:
        return []
    quotable = by_rules.quotable
    places = {*by_rules.places, *(words.source for words in quotable)}
    stated = [*quotable, *stated_words(screened, read_places=places, question_message=extraction.question_message)]
    if not stated:
        return []
    vectors = await vectors_of(deps, stated, whole=dict(whole_vectors(screened, episodes)))
    saliences = judged_words(model, stated, vectors=vectors, in_talk=outdated.in_company)
    judged = list(zip(stated, saliences, vectors, strict=True))
    earlier = await _said_before(deps, context.scope) if _asks_who(judged) else []
    least = LEAST_IN_COMPANY if outdated.in_company else LEAST
    quoting = _Quoting(screened, extraction.stored_before, earlier, model, least, context)
    facts = await quoting.facts(deps, judged)
    if any(_may_be_at_an_end(each, least=least) for each in judged):
        new_memories = [new.insert for new in (*by_rules.facts, *facts)]
        ending = await outdated.endings(episodes, new_memories=new_memories, scope=context.scope, now=context.now)
        sources = _sources_of(ending, screened, episodes=episodes).difference(new.fact.source for new in facts)
        at_an_end = [each for each in judged if each[0].source in sources]
        facts += await replace(quoting, least=LEAST_AT_AN_END).facts(deps, at_an_end)
    return facts


def _may_be_at_an_end(judged: _Judged, *, least: float) -> bool:
    """Return whether words are kept only if they leave a memory without ground."""
    words, salience, _ = judged
    return salience is not None and words.read is None and LEAST_AT_AN_END <= salience.probability < least


def _sources_of(
    ids: Collection[str], screened: Sequence[ScreenedMessage], *, episodes: Sequence[Insert]
) -> frozenset[int]:
    """Return the places of the messages whose records these are."""
    records = records_of(screened, episodes)
    return frozenset(source for source, parts in records if any(part.record.id in ids for part in parts))


def _asks_who(judged: Sequence[_Judged]) -> bool:
    """Return whether words that may be kept leave out of whom they tell."""
    likely = (each for each in judged if each[1] is not None and each[1].probability >= LEAST_AT_AN_END)
    return any(salience is not None and leaves_out_whose(words, salience) for words, salience, _ in likely)


@dataclass(frozen=True, slots=True)
class _Quoting:
    """Makes quotations of what is likely worth remembering."""

    screened: Sequence[ScreenedMessage]
    stored_before: Sequence[MemoryRecord]
    """The last stored messages of the same conversation, newest first."""
    earlier: Sequence[str]
    """The last messages that are stored, where whom a text tells may stand there."""
    model: SalienceModel
    least: float
    context: DraftContext

    async def facts(self, deps: AddDeps, judged: Sequence[_Judged]) -> list[NewFact]:
        """Return the quotations as facts: of words that say of whom they tell, and of others behind what says it."""
        quotations = self._alone(judged)
        places = {words.source for words, _, _ in quotations}
        led = [each for each in self._led(judged) if each[0].source not in places]
        led_vectors = await vectors_of(deps, [words for words, _ in led], whole=None) if led else []
        quotations += [(words, fact, vector) for (words, fact), vector in zip(led, led_vectors, strict=True)]
        facts: list[NewFact] = []
        for words, fact, vector in quotations:
            draft = fact_draft(fact, self.screened[words.source], context=self.context)
            facts.append(to_new_fact(fact, insert_of(draft, vector, model_id=self.model.model_id)))
        return facts

    def _alone(self, judged: Sequence[_Judged]) -> list[tuple[Words, Fact, Vector | None]]:
        """Return the quotations of words that say of whom they tell, one a message."""
        quotations: list[tuple[Words, Fact, Vector | None]] = []
        answered: set[int] = set()
        for words, salience, vector in judged:
            fact = self._quotation_of(words, salience)
            if fact is not None and words.source not in answered:
                quotations.append((words, fact, vector))
            if words.question and salience is not None and salience.probability >= self.least:
                answered.add(words.source)
        return quotations

    def _led(self, judged: Sequence[_Judged]) -> Iterator[tuple[Words, Fact]]:
        """Yield words of which it is open whom they tell, behind what names somebody right before them."""
        for words, salience, _ in judged:
            is_likely = salience is not None and salience.probability >= self.least
            if salience is None or not is_likely or words.read or words.question or not says_only_she(words.text):
                continue
            tiers = {self.screened[words.source].tier, TrustTier.ASSISTANT}
            in_call = (each for each in self.screened[: words.source] if each.held_back is None and each.tier in tiers)
            scope, now = self.context.scope, self.context.now
            talk = talk_before(self.stored_before, scope, message=words.message, now=now)
            lead = lead_before(words.message, [*talk, *(each.message for each in in_call)], now=now)
            led = replace(words, lead=lead)
            fact = salient_fact(led, salience, version=self.model.version, least=self.least) if lead else None
            if fact is not None:
                yield led, fact

    def _quotation_of(self, words: Words, salience: Salience | None) -> Fact | None:
        if words.read is not None:
            return fact_in_own_words(words, salience)
        if salience is None:
            return None
        in_call = [each.message.content for each in self.screened[max(words.source - READ_BACK, 0) : words.source]]
        before = in_call or self.earlier
        return salient_fact(words, salience, version=self.model.version, least=self.least, before=before)


async def _said_before(deps: AddDeps, scope: Scope) -> list[str]:
    """Return the last messages that are stored, oldest first: whom a health message leaves out may stand there."""
    page = await deps.store.page(scope, kinds=(Kind.EPISODE,), limit=READ_BACK)
    return [record.content for record in reversed(page.records) if QUARANTINED not in record.tags]


async def worth_telling(
    deps: AddDeps,
    facts: Sequence[NewFact],
    *,
    screened: Sequence[ScreenedMessage],
    episodes: Sequence[Insert],
    in_company: bool,
    question_message: str = "",
) -> list[NewFact]:
    """Return the facts that rules read, without answers in jest, and without what is worth little and names no subject.

    In a message by itself, a rule took the speaker for a subject that is left out: a story ("saw that film, has a dog")
    reads the same. What binds, a taste, health, an order, the value of an attribute and an end are kept all the same.

    Args:
        question_message: what the assistant said right before the first message, in an earlier call.
    """
    model = judge_of(deps)
    if model is None or not episodes:
        return list(facts)
    dropped: set[int] = set()
    if any(new.fact.sentence is not None for new in facts):
        dropped |= await _answers_in_jest(deps, facts, screened=screened, question_message=question_message)
    doubtful = {place for place, new in enumerate(facts) if _may_be_anybodys(new, screened=screened)}
    if doubtful and not in_company:
        vectors = dict(whole_vectors(screened, episodes))
        sources = {place: facts[place].fact.source for place in doubtful}
        dropped |= _worth_little(model, sources, screened=screened, vectors=vectors)
    return [new for place, new in enumerate(facts) if place not in dropped]


def _worth_little(
    model: SalienceModel,
    sources: Mapping[int, int],
    *,
    screened: Sequence[ScreenedMessage],
    vectors: Mapping[int, Vector],
) -> set[int]:
    """Return the places of facts whose messages are worth little.

    Args:
        sources: the place of the message of each fact, by the place of the fact.
        vectors: of messages that are stored in one piece, by their places.
    """
    judged = sorted(set(sources.values()) & vectors.keys())
    texts = [screened[source].message.content for source in judged]
    saliences = model.judge(texts, [vectors[source] for source in judged], in_talk=False)
    shares = {source: salience.probability for source, salience in zip(judged, saliences, strict=True)}
    return {place for place, source in sources.items() if shares.get(source, 1.0) < LEAST_UNDERSTOOD}


async def _answers_in_jest(
    deps: AddDeps, facts: Sequence[NewFact], *, screened: Sequence[ScreenedMessage], question_message: str
) -> set[int]:
    """Return the places of answers in a quiz, a game or a joke.

    "Which company makes the Corolla?" and "Where do you work?" have the same answer. A model judges both together.
    """
    answers: dict[int, Words] = {}
    for place, new in enumerate(facts):
        source = new.fact.source
        question = question_before(screened, source, question_message=question_message)
        if question and new.fact.sentence is not None:
            message = screened[source].message
            answers[place] = Words(source, message, message.content, question=question)
    model = judge_of(deps)
    if model is None:
        return set()
    stated = list(answers.values())
    vectors = await vectors_of(deps, stated, whole=None)
    saliences = judged_words(model, stated, vectors=vectors, in_talk=True)
    jests: set[int] = set()
    for place, salience in zip(answers, saliences, strict=True):
        if salience is not None and salience.probability < LEAST_ANSWERED:
            jests.add(place)
    return jests


def _may_be_anybodys(new: NewFact, *, screened: Sequence[ScreenedMessage]) -> bool:
    fact, record = new.fact, new.record
    if not fact.understood or fact.attribute is not None or fact.ended or fact.sentence is not None:
        return False
    counts = record.type in {*_COUNTS, MemoryType.PROCEDURAL} or not _OF_HEALTH.isdisjoint(record.tags)
    return not counts and _may_be_quoted(fact, screened[fact.source])
