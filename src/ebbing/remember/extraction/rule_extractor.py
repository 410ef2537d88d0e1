"""Facts from messages, by the rules of the language packs and without a model.

A message becomes sentences, a sentence becomes statements (one a clause), a statement meets the rules; the first rule
that matches makes a fact in the third person. Questions, conditions, quotations, games and tasks never get that far.
Pure and deterministic; a message of any length costs no more than its first 4,000 characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.parsing.chinese import ChineseReader
from ebbing.language.parsing.english import EnglishReader
from ebbing.language.parsing.parentheses import Lifted
from ebbing.language.patterns.rule_pack import Pack, Packs
from ebbing.language.text.detect_language import detect
from ebbing.language.text.sentences import sentences
from ebbing.language.text.statement import Reader, Sentence, Speaker, Statement
from ebbing.remember.extraction.certain_facts import (
    is_understood,
    is_whole,
    keeps_negations,
    leaves_open_who,
    shifts_its_subject,
    stands_alone,
    subject_is_certain,
    without_its_tail,
)
from ebbing.remember.extraction.rule_matching import fact_of, with_detail
from ebbing.remember.extraction.whole_sentences import (
    as_first_person,
    completed,
    placed,
    with_its_own,
    with_lists_apart,
)
from ebbing.remember.facts.evidence import literal_span

_LAST_ASKED: Final = 200
"""Characters at the end of the assistant's message in which it says what it wants to know."""
_GAME: Final = 200
"""Characters at the beginning of a message in which a game is begun."""
CHANGE: Final = "change"
"""The rule of what no rule reads and is news of something known, which says itself what it is about."""
_NAME: Final = 2
"""Characters that a name has at least."""
MAX_FACTS: Final = 32
"""Facts taken from one message."""
_SPEAKERS: Final = {"en": Speaker("User", "the assistant"), "zh": Speaker("用户", "助手")}
_AGENTS: Final = {"en": Speaker("Assistant", "the user"), "zh": Speaker("助手", "用户")}
_READERS: Final[dict[str, Callable[[Pack], Reader]]] = {"en": EnglishReader, "zh": ChineseReader}


Otherwise = Callable[[Statement], Fact | None]
"""Makes a fact of a statement that no rule reads, or leaves it."""


def extract(
    messages: Sequence[Message],
    *,
    now: datetime,
    packs: Packs | None = None,
    agent_facts: bool = False,
    otherwise: Otherwise | None = None,
    earlier: Sequence[Message] = (),
) -> list[Fact]:
    """The facts that the messages state, in order, each once; `source` is the index of the message.

    User messages tell about the user; with `agent_facts`, assistant messages tell about the agent (`about="agent"`).
    System and tool messages are never read. "Tomorrow" counts from the message's timestamp, else from `now` (with a
    time zone). Facts that the speaker was not sure of come with a confidence under 0.7. `otherwise` is asked about what
    the user says and no rule reads. `earlier` is what was said before, which is not read for facts. Raises
    `InvalidInputError` when the moment has no time zone.
    """
    all_packs = packs or Packs.load()
    facts: dict[str, Fact] = {}
    people = _people_of(earlier, messages, packs=all_packs)
    before = earlier[-1] if earlier else None
    playing = False
    for index, message in enumerate(messages):
        if message.role is Role.USER or (agent_facts and message.role is Role.ASSISTANT):
            reading = _MessageReading(message, before, all_packs, otherwise, people.setdefault(message.role, []))
            for fact in () if playing else reading.facts(said_at=message.timestamp or now, source=index):
                facts.setdefault(fact.text.casefold(), fact)
            playing = playing or reading.begins_a_game()
        before = message
    return list(facts.values())


def _people_of(earlier: Sequence[Message], messages: Sequence[Message], *, packs: Packs) -> dict[Role, list[Statement]]:
    """The people of which the speaker of the first message spoke before it."""
    people: dict[Role, list[Statement]] = {}
    for before, message in zip([None, *earlier], earlier, strict=False):
        if message.role is Role.USER and messages and message.name == messages[0].name:
            reading = _MessageReading(message, before, packs, people=people.setdefault(message.role, []))
            for _ in reading.statements():
                continue
    return people


def statements(messages: Sequence[Message], *, packs: Packs | None = None) -> Iterator[tuple[Statement, Pack]]:
    """The statements of the user's messages as the rules get to see them, each with the pack of its language."""
    all_packs = packs or Packs.load()
    for before, message in zip([None, *messages], messages, strict=False):
        if message.role is Role.USER:
            for _, statement, pack in _MessageReading(message, before, all_packs).statements():
                yield statement, pack


@dataclass(frozen=True, slots=True)
class _MessageReading:
    """One message, heard after another."""

    message: Message
    before: Message | None
    packs: Packs
    otherwise: Otherwise | None = None
    people: list[Statement] = field(default_factory=list)
    """Statements about or with people of the speaker's, heard so far."""

    def facts(self, *, said_at: datetime, source: int) -> list[Fact]:
        """What it states; `source` is the index of the message."""
        agent = self.message.role is Role.ASSISTANT
        facts: list[Fact] = []
        before: tuple[Sentence, Statement] | None = None
        shifted: Sentence | None = None
        for sentence, statement, its_pack in self.statements():
            if agent and statement.who not in {"self", "clause"}:
                continue
            if shifts_its_subject(statement, its_pack):
                shifted = sentence
            if shifted is sentence and (statement.carried or shifts_its_subject(statement, its_pack)):
                continue
            fact = self._fact(statement, its_pack, said_at=said_at, aside=bool(facts))
            fact = fact and self._certain(fact, statement, sentence=sentence, pack=its_pack, said_at=said_at)
            if before is not None and before[0] is sentence:
                longer = with_detail(facts[-1], before[1], detail=statement, own=fact, pack=its_pack, said_at=said_at)
                if longer is not None:
                    facts[-1] = longer
                    continue
            before = None
            if fact is not None:
                about = "agent" if agent else "user"
                whole = sentence.text if sentence.literal else None
                facts.append(replace(fact, source_text=sentence.evidence, sentence=whole, about=about, source=source))
                before = sentence, statement
        return facts[:MAX_FACTS]

    def _fact(self, statement: Statement, pack: Pack, *, said_at: datetime, aside: bool) -> Fact | None:
        if statement.adds:
            return None
        fact = fact_of(statement, pack, said_at=said_at, aside=aside)
        if fact is None and self.otherwise is not None and self.message.role is not Role.ASSISTANT:
            return self.otherwise(statement.implied or statement)
        return fact

    def _certain(
        self, fact: Fact, statement: Statement, *, sentence: Sentence, pack: Pack, said_at: datetime
    ) -> Fact | None:
        """The fact, where its subject and its polarity are certain; what was left out is noted."""
        fact = without_its_tail(fact, language=pack.language)
        if not stands_alone(fact, statement, pack=pack) or not is_whole(fact, statement, pack=pack):
            return None
        if not keeps_negations(fact, sentence.evidence, language=pack.language):
            return None
        if fact.rule == CHANGE and leaves_open_who(statement, self.message.content, language=pack.language):
            return None
        if statement.who != "order" and not is_understood(statement, sentence, pack=pack):
            return fact
        span = literal_span(sentence.evidence, self.message.content)
        text_before = self.message.content.partition(span)[0] if span else ""
        itself = fact.rule == CHANGE or statement.clause.startswith("有")
        before = None if itself and self._goes_on() else self.before
        certain = subject_is_certain(
            statement,
            self.message,
            text_before=text_before,
            before=before,
            now=said_at,
            pack=pack,
            weighed="weighed" in (fact.rule or ""),
        )
        if certain:
            return replace(fact, understood=True)
        named = statement.who == "clause" and not itself and self._was_named(statement, pack)
        news = self.otherwise(statement.implied or statement) if named and self.otherwise is not None else None
        return replace(news, understood=True) if news is not None and news.tentative else None

    def _was_named(self, statement: Statement, pack: Pack) -> bool:
        """Whether a Chinese clause begins with a name that the speaker's last message holds: 旺财去世了.

        Such a clause makes no fact of the speaker's; it may only end what is known of the one it names.
        """
        if pack.language != "zh" or self.before is None or not self._goes_on():
            return False
        name = statement.clause[:_NAME]
        return len(name) == _NAME and name in self.before.content

    def _goes_on(self) -> bool:
        """Whether the speaker of the message before goes on."""
        before = self.before
        return before is not None and (before.role, before.name) == (self.message.role, self.message.name)

    def begins_a_game(self) -> bool:
        """Whether it asks for a game of roles, in which the messages that follow are said."""
        pack = self.packs.by_language.get(self._language())
        play = pack.gates.get("play") if pack is not None else None
        return play is not None and play.search(self.message.content[:_GAME]) is not None

    def _of_a_task(self, pack: Pack) -> bool:
        """Whether it answers what was asked about a piece of work: who is in the story, the text to put right."""
        if self.before is None or self.before.role is not Role.ASSISTANT:
            return False
        request = self.before.content[-_LAST_ASKED:]
        sent, about = pack.gates.get("sent_for"), pack.gates.get("about_work")
        if sent is not None and sent.search(request):
            return True
        own = pack.words["own_words"].search(self.message.content) is not None
        return about is not None and not own and about.search(request) is not None

    def _language(self) -> str:
        """The message's own language; a bare number or name answers in the language of the question."""
        own = detect(self.message.content)
        return detect(self.before.content) if own == "und" and self.before is not None else own

    def statements(self) -> Iterator[tuple[Sentence, Statement, Pack]]:
        """The statements, each with its sentence and the pack of its language."""
        pack = self.packs.by_language.get(self._language())
        if pack is None or pack.gates["message"].search(self.message.content[:400]) or self._of_a_task(pack):
            return
        spoken = as_first_person(sentences(self.message.content), pack=pack)
        spoken = with_lists_apart(spoken, pack=pack)
        if self.before is not None and self.before.role is not self.message.role:
            spoken = with_its_own(spoken, before=self.before.content)
            spoken = completed(spoken, before=self.before.content, pack=pack)
        spoken = placed(spoken, before=self.before.content if self.before else "", pack=pack)
        if self.before is not None and self.before.role is not self.message.role:
            self._asked_about(self.before.content[-_LAST_ASKED:], pack, word_list="asked_about")
        for sentence in spoken:
            if pack.gates["paste"].search(sentence.text):
                return
            lifted = Lifted.of(sentence)
            for part in (lifted.sentence, *lifted.own):
                its_pack = self.packs.by_language.get(detect(part.text), pack)
                names_people = False
                for statement in _reader(its_pack).read(part, self._speaker(its_pack), people=self.people):
                    if statement.relation or statement.mentioned:
                        names_people = True
                        self.people.append(statement)
                    yield sentence, _with_asides(statement, lifted), its_pack
                if not names_people:
                    self._asked_about(part.text, its_pack, word_list="mentioned")

    def _asked_about(self, text: str, pack: Pack, *, word_list: str) -> None:
        """Somebody of the speaker's whom a question names is known to what follows."""
        about = pack.words.get(word_list) if pack.language == "en" else None
        for match in about.finditer(text) if about is not None else ():
            who = match.groupdict().get("who") or match.group().split(maxsplit=1)[1]
            self.people.extend(_reader(pack).read(Sentence(f"I see my {who}"), self._speaker(pack), people=()))

    def _speaker(self, pack: Pack) -> Speaker:
        speakers = _AGENTS if self.message.role is Role.ASSISTANT else _SPEAKERS
        speaker = speakers[pack.language]
        return replace(speaker, name=self.message.name) if self.message.name else speaker


def _with_asides(statement: Statement, lifted: Lifted) -> Statement:
    if not lifted.asides:
        return statement
    implied = statement.implied and _with_asides(statement.implied, lifted)
    return replace(statement, text=lifted.back(statement.text), implied=implied)


_READER_CACHE: Final[dict[int, tuple[Pack, Reader]]] = {}
"""One reader a pack: what it compiles costs more than reading a message."""


def _reader(pack: Pack) -> Reader:
    cached = _READER_CACHE.get(id(pack))
    if cached is not None and cached[0] is pack:
        return cached[1]
    reader = _READERS[pack.language](pack)
    _READER_CACHE[id(pack)] = (pack, reader)
    return reader
