"""Facts from messages, by the rules of the language packs and without a model.

A message becomes sentences, a sentence becomes statements (one a clause), a statement meets the rules; the first rule
that matches makes a fact in the third person. Questions, conditions, quotations, games and tasks never get that far.
Pure and deterministic; a message of any length costs no more than its first 4,000 characters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.parsing.antecedents import means_one
from ebbing.language.parsing.message_statements import MessageParser
from ebbing.language.patterns.rule_pack import Pack, Packs
from ebbing.language.text.quotation import quotation
from ebbing.language.text.statement import Sentence, Statement, spoken_of_now
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.remember.extraction.among_people import addresses_assistant
from ebbing.remember.extraction.certain_facts import (
    before_pronoun,
    is_anothers_body,
    is_the_speakers,
    is_told_plainly,
    is_understood,
    is_whole,
    keeps_negations,
    leaves_open_who,
    pronoun_of,
    share_of,
    shifts_its_subject,
    stands_alone,
    subject_is_certain,
    without_its_tail,
)
from ebbing.remember.extraction.rule_matching import fact_of, with_detail
from ebbing.remember.extraction.running_talk import is_kept_in_talk, is_plain
from ebbing.remember.extraction.told_facts import (
    has_a_fitting_value,
    introduces_words,
    is_anybodys,
    is_one_voice,
    may_be_a_weight,
    says_something,
    with_words_as_said,
    without_own_words,
)
from ebbing.remember.extraction.whole_facts import says_what
from ebbing.remember.facts.evidence import literal_span

CHANGE_RULE: Final = "change"
"""The rule of what no rule reads and is news of something known, which says itself what it is about."""
_NAME_CHARS: Final = 2
"""Characters that a name has at least."""
_MAX_QUOTED_CHARS: Final = 240
"""Characters of a message that is quoted as a whole; of a longer one the sentence is."""
MAX_FACTS: Final = 32
"""Facts taken from one message."""


FallbackRule = Callable[[Statement], Fact | None]
"""Makes a fact of a statement that no rule reads, or leaves it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of the conversation in which messages are said; nothing of it is read for facts."""

    earlier: Sequence[Message] = ()
    """What was said before, oldest first."""
    company: Collection[str] = ()
    """Names of people who took part."""
    in_talk: bool = False
    """They have been talking with the assistant for some time."""
    introduced: Sequence[Message] = ()
    """Where the speaker said, perhaps long ago, who somebody is whom the messages call by name."""


ALONE: Final = Conversation()
"""Nothing was said before, and nobody else takes part."""


def extract(
    messages: Sequence[Message],
    *,
    now: datetime,
    packs: Packs | None = None,
    agent_facts: bool = False,
    otherwise: FallbackRule | None = None,
    conversation: Conversation = ALONE,
) -> list[Fact]:
    """Return the facts that the messages state, in order, each once a message; `source` is the index of the message.

    What a later message says again is a fact again: it may have been over in between.

    User messages tell about the user; with `agent_facts`, assistant messages tell about the agent (`about="agent"`).
    System and tool messages are never read. "Tomorrow" counts from the message's timestamp, else from `now` (with a
    time zone). Facts that the speaker was not sure of come with a confidence under 0.7. `otherwise` is asked about what
    the user says and no rule reads. Raises `InvalidInputError` when the moment has no time zone.
    """
    all_packs = packs or Packs.load()
    facts: dict[tuple[int, str], Fact] = {}
    earlier, introduced = conversation.earlier, conversation.introduced
    people = _people_of(earlier, messages, packs=all_packs)
    if introduced:
        by_name = _people_of(introduced, introduced, packs=all_packs).get(Role.USER, [])
        named = [replace(person, is_by_name=True) for person in by_name]
        people[Role.USER] = [*named, *people.get(Role.USER, [])]
    before = earlier[-1] if earlier else None
    names = {*conversation.company, *(message.name for message in (*earlier, *messages) if message.role is Role.USER)}
    playing = False
    for index, message in enumerate(messages):
        if message.role is Role.USER or (agent_facts and message.role is Role.ASSISTANT):
            parser = MessageParser(message, before, all_packs, people.setdefault(message.role, []))
            to_assistant = addresses_assistant(messages, index, before=earlier[-1] if earlier else None)
            among_people = message.name is not None and not names <= {message.name, None}
            in_talk = conversation.in_talk and not among_people
            reader = _FactReader(parser, otherwise, to_assistant, among_people, in_talk=in_talk)
            for fact in () if playing else reader.facts(said_at=message.timestamp or now, source=index):
                facts.setdefault((index, fact.text.casefold()), fact)
            playing = playing or parser.begins_a_game()
        before = message
    return list(facts.values())


def _people_of(earlier: Sequence[Message], messages: Sequence[Message], *, packs: Packs) -> dict[Role, list[Statement]]:
    """Return the people of which the speaker of the first message spoke before it."""
    people: dict[Role, list[Statement]] = {}
    for before, message in zip([None, *earlier], earlier, strict=False):
        if message.role is Role.USER and messages and message.name == messages[0].name:
            parser = MessageParser(message, before, packs, people.setdefault(message.role, []))
            for _ in parser.statements():
                continue
    return people


def _before_clause(statement: Statement, sentence: Sentence) -> str:
    """Return what a sentence says before a clause; nothing where the clause was put into other words."""
    at = sentence.evidence.find(statement.clause) if statement.clause else -1
    return sentence.evidence[:at] if at > 0 else ""


class _Reading(NamedTuple):
    """What a rule reads of a statement."""

    fact: Fact
    statement: Statement
    sentence: Sentence
    pack: Pack
    details: tuple[Statement, ...] = ()

    @property
    def parts(self) -> tuple[Statement, ...]:
        """The statement and its details."""
        return self.statement, *self.details


def _is_taken_back(statement: Statement, stated: Sequence[Statement]) -> bool:
    """Return whether the message says the opposite of the same person too: "I don't drink. (I drink)"."""
    verb = statement.predicate.split(" ", 1)[0]
    if statement.who == "order" or len(verb) == 1:
        return False
    return any(
        other.negated is not statement.negated
        and (other.who, other.subject) == (statement.who, statement.subject)
        and other.predicate in {verb, statement.predicate}
        for other in stated
    )


@dataclass(frozen=True, slots=True)
class _FactReader:
    """Makes facts of the statements of one message."""

    parser: MessageParser
    otherwise: FallbackRule | None
    to_assistant: bool = True
    among_people: bool = False
    """The speaker has a name, and somebody else with a name takes part."""
    in_talk: bool = False
    """They have been talking with the assistant alone for some time."""

    def facts(self, *, said_at: datetime, source: int) -> list[Fact]:
        """Return the facts of the message; `source` is its index."""
        agent = self.parser.message.role is Role.ASSISTANT
        readings = self._readings(said_at=said_at)
        told_of = [reading for reading in readings if not reading.fact.tentative]
        understood = share_of([part for reading in readings for part in reading.parts], self.parser.message)
        facts: list[Fact] = []
        for every in readings:
            reading = self._of_company(every, said_at=said_at, understood=understood)
            if reading is None:
                continue
            fact, statement, sentence, pack, _ = reading
            named = fact.tentative and not is_anybodys(statement, pack=pack)
            if agent or named or self._is_told(reading, understood=understood):
                about = "agent" if agent else "user"
                whole = sentence.text if sentence.literal else None
                plain = with_words_as_said(without_own_words(fact, language=pack.language), self.parser.message.content)
                facts.append(replace(plain, source_text=sentence.evidence, sentence=whole, about=about, source=source))
                continue
            if self.among_people or self.in_talk:
                continue
            if len(told_of) > 1 and not has_a_fitting_value(fact, statement, pack=pack):
                continue
            quoted = self._in_own_words(fact, statement, sentence=sentence, pack=pack, source=source)
            if fact.rule == CHANGE_RULE:  # by itself it says too little, but it may end something known
                quoted = replace(quoted, tentative=True)
            facts += [quoted] if says_something(quoted) else []
        return facts[:MAX_FACTS]

    def _of_company(self, reading: _Reading, *, said_at: datetime, understood: float) -> _Reading | None:
        """Return what is kept of a talk or among people; where it only may end something known, it is tentative."""
        fact, statement, sentence, _, _ = reading
        message = self.parser.message
        if not (self.among_people or self.in_talk) or message.role is not Role.USER:
            return reading
        keeps = is_kept_in_talk(
            fact,
            statement,
            sentence=sentence,
            message=message,
            said_at=said_at,
            to_assistant=self.in_talk or self.to_assistant,
            plain=self.in_talk and is_plain(message, understood=understood),
        )
        if keeps:
            return reading
        news = fact.tentative or fact.ended or fact.corrects or fact.rule == CHANGE_RULE
        return reading._replace(fact=replace(fact, tentative=True)) if news and statement.who != "order" else None

    def _is_told(self, reading: _Reading, *, understood: float) -> bool:
        """Return whether a fact is told in the third person: its words, its value and its voice allow it."""
        fact, statement, _, pack, _ = reading
        if not is_told_plainly(fact, statement, message=self.parser.message, understood=understood, pack=pack):
            return False
        if not has_a_fitting_value(fact, statement, pack=pack):
            return False
        if may_be_a_weight(fact, statement, content=self.parser.message.content):
            return False
        if statement.who == "order" or fact.ended or fact.corrects:
            return True
        if is_anybodys(statement, pack=pack):
            return False
        return is_one_voice(fact, reading.parts, pack=pack, speaker=self.parser.speaker_in(pack).name)

    def _readings(self, *, said_at: datetime) -> list[_Reading]:
        """Return what the rules read of the message for certain, in order; a detail joins the reading before it."""
        agent = self.parser.message.role is Role.ASSISTANT
        readings: list[_Reading] = []
        stated: list[Statement] = []
        before: _Reading | None = None
        shifted: Sentence | None = None
        for sentence, statement, pack in self.parser.statements():
            stated.append(statement)
            if agent and statement.who not in {"self", "clause"}:
                continue
            if shifts_its_subject(statement, pack):
                shifted = sentence
            if shifted is sentence and (statement.carried or shifts_its_subject(statement, pack)):
                continue
            fact = self._fact(statement, pack, said_at=said_at)
            told_before = _before_clause(statement, sentence)
            if fact is not None and is_anothers_body(fact, statement, text_before=told_before, language=pack.language):
                before = None
                continue
            fact = fact and self._certain(fact, statement, sentence=sentence, pack=pack, said_at=said_at)
            longer = None
            if before is not None and before.sentence is sentence:
                longer = with_detail(
                    before.fact, before.statement, detail=statement, own=fact, pack=pack, said_at=said_at
                )
            if before is not None and longer is not None:
                readings[-1] = before = before._replace(fact=longer, details=(*before.details, statement))
                continue
            before = None
            if fact is not None:
                before = _Reading(fact, statement, sentence, pack)
                readings.append(before)
        return [reading for reading in readings if not _is_taken_back(reading.statement, stated)]

    def _fact(self, statement: Statement, pack: Pack, *, said_at: datetime) -> Fact | None:
        if statement.adds:
            return None
        fact = fact_of(statement, pack, said_at=said_at)
        if fact is None and self.otherwise is not None and self.parser.message.role is not Role.ASSISTANT:
            return self.otherwise(statement.implied or statement)
        return fact

    def _certain(
        self, fact: Fact, statement: Statement, *, sentence: Sentence, pack: Pack, said_at: datetime
    ) -> Fact | None:
        """Return the fact, where its subject and its polarity are certain; what was left out is noted."""
        fact = without_its_tail(fact, language=pack.language)
        if not stands_alone(fact, statement, pack=pack) or not is_whole(fact, statement, pack=pack):
            return None
        if not says_what(fact, statement, pack=pack) or not is_the_speakers(statement, sentence, pack=pack):
            return None
        if introduces_words(statement, sentence):
            return None
        if not keeps_negations(fact, sentence.evidence, language=pack.language):
            return None
        if fact.rule == CHANGE_RULE and leaves_open_who(statement, self.parser.message.content, language=pack.language):
            return None
        if not self._means_one(statement, sentence, pack=pack):
            return None
        if statement.who != "order" and not is_understood(statement, sentence, pack=pack):
            return fact
        text_before = f"{self._head(sentence)}{_before_clause(statement, sentence)}"
        itself = fact.rule == CHANGE_RULE or statement.clause.startswith("有")
        before = None if itself and self.parser.continues_speaker() else self.parser.before
        certain = subject_is_certain(
            statement,
            self.parser.message,
            text_before=text_before,
            before=before,
            now=said_at,
            pack=pack,
        )
        if certain:
            return replace(fact, understood=True)
        named = statement.who == "clause" and not itself and self._was_named(statement, pack)
        news = self.otherwise(statement.implied or statement) if named and self.otherwise is not None else None
        return replace(news, understood=True) if news is not None and news.tentative else None

    def _head(self, sentence: Sentence) -> str:
        """Return what the message says before a sentence."""
        span = literal_span(sentence.evidence, self.parser.message.content)
        return self.parser.message.content.partition(span)[0] if span else ""

    def _means_one(self, statement: Statement, sentence: Sentence, *, pack: Pack) -> bool:
        """Return whether a subject that is a pronoun can be nobody else than whom it was taken for."""
        pronoun = pronoun_of(statement, sentence, pack=pack)
        if not pronoun:
            return True
        before = self.parser.before
        within = before_pronoun(pronoun, statement, sentence=sentence)
        texts = [f"{self._head(sentence)}{within}", before.content if before is not None else ""]
        return means_one(pronoun, statement, texts=texts, people=spoken_of_now(self.parser.people), pack=pack)

    def _in_own_words(self, fact: Fact, statement: Statement, *, sentence: Sentence, pack: Pack, source: int) -> Fact:
        """Return the fact as a quotation: of the whole message where it is short and gives no order."""
        content = self.parser.message.content
        is_short = len(content) <= _MAX_QUOTED_CHARS and not instruction_shaped(content)
        words = content if is_short else sentence.evidence
        speaker = self.parser.speaker_in(pack).name
        text = quotation(words, speaker, language=pack.language)
        quoted = replace(without_own_words(fact, language=pack.language), text=text, source=source, source_text=words)
        if statement.implied is None and fact.attribute is None:
            return replace(quoted, value=None, reading=fact.text)
        # Whose it is, or what, is not certain: it gives nobody a value or a taste, and ends nothing.
        return replace(quoted, attribute=None, value=None, object=None, polarity=0)

    def _was_named(self, statement: Statement, pack: Pack) -> bool:
        """Return whether a Chinese clause begins with a name that the speaker's last message holds: 旺财去世了.

        Such a clause makes no fact of the speaker's; it may only end what is known of the one it names.
        """
        if pack.language != "zh" or self.parser.before is None or not self.parser.continues_speaker():
            return False
        name = statement.clause[:_NAME_CHARS]
        return len(name) == _NAME_CHARS and name in self.parser.before.content
