"""The door to the parsers: a message becomes sentences, and a sentence becomes statements, one a clause.

What stands in brackets is lifted out, so that the sentence around it reads as one, and put back where it stood. "My
husband (an electrician) works in Hull" says that the husband works in Hull; he is the electrician, not the speaker. A
clause in brackets ("(I'm vegetarian)") is a sentence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.parsing.chinese import ChineseReader
from ebbing.language.parsing.english import EnglishReader
from ebbing.language.parsing.whole_sentences import as_first_person, completed, placed, with_its_own, with_lists_apart
from ebbing.language.patterns.rule_pack import Pack, Packs
from ebbing.language.signals.shown_text import MAY_SHOW_TEXT, is_announced, without_shown_text
from ebbing.language.signals.talk_signs import shows
from ebbing.language.text.detect_language import detect
from ebbing.language.text.sentences import QUOTED, sentences
from ebbing.language.text.statement import Reader, Sentence, Speaker, Statement

_MAX_REQUEST_CHARS: Final = 200
"""Characters at the end of the assistant's message in which it says what it wants to know."""
_MAX_GAME_CHARS: Final = 200
"""Characters at the beginning of a message in which a game is begun."""
_SUPPOSES: Final = re.compile(
    r"(?i)\bif\b.{0,60}?(?:\bwould\b|['’]d\b|\b(?:were|had|won)\b)|\bI wish (?:I|we|it)\b|\bimagine (?:I|we|if)\b"
    r"|(?<![主需重只就总还正])要是|要不是|假如|如果(?!方便|可以|有空|需要|你|您)|但愿|真希望"
)
"""A sentence of what is not so."""
_GOES_ON: Final = re.compile(
    r"(?i)\W*(?:and|or|but)\s+"
    r"(?!(?:I|I['’]?m|I['’]?ve|we|you|he|she|it|they|my|our|your|his|her|their|this|that|there|who|never|always|please|don['’]?t)\b"
    r"|(?-i:[A-Z])\w+)"
    r"|\W*(?:还|也|又|再|然后)(?!.{0,4}[我你他她])"
)
"""A sentence without a subject of its own that goes on with the one before."""
_SPEAKERS: Final = {"en": Speaker("User", "the assistant"), "zh": Speaker("用户", "助手")}
_AGENTS: Final = {"en": Speaker("Assistant", "the user"), "zh": Speaker("助手", "用户")}
_READERS: Final[dict[str, Callable[[Pack], Reader]]] = {"en": EnglishReader, "zh": ChineseReader}


def statements(messages: Sequence[Message], *, packs: Packs | None = None) -> Iterator[tuple[Statement, Pack]]:
    """Return the statements of the user's messages as the rules get to see them, each with the pack of its language."""
    all_packs = packs or Packs.load()
    for before, message in zip([None, *messages], messages, strict=False):
        if message.role is Role.USER:
            for _, statement, pack in MessageParser(message, before, all_packs).statements():
                yield statement, pack


@dataclass(frozen=True, slots=True)
class MessageParser:
    """One message, read after another."""

    message: Message
    before: Message | None
    packs: Packs
    people: list[Statement] = field(default_factory=list)
    """Statements about or with people of the speaker's, as far as they were read."""

    def statements(self) -> Iterator[tuple[Sentence, Statement, Pack]]:
        """Return the statements in order, each with its sentence and the pack of its language."""
        pack = self.packs.by_language.get(self._language())
        if pack is None or pack.gates["message"].search(self.message.content[:400]) or self._of_a_task(pack):
            return
        own_text = self.message.content
        if MAY_SHOW_TEXT.search(own_text):
            own_text = without_shown_text(own_text, name=self.message.name or "")
        spoken = as_first_person(sentences(own_text), pack=pack)
        spoken = with_lists_apart(spoken, pack=pack)
        if self.before is not None and self.before.role is not self.message.role:
            spoken = with_its_own(spoken, before=self.before.content)
            spoken = completed(spoken, before=self.before.content, pack=pack)
        spoken = placed(spoken, before=self.before.content if self.before else "", pack=pack)
        if self.before is not None and self.before.role is not self.message.role:
            self._note_people_of(self.before.content[-_MAX_REQUEST_CHARS:], pack, word_list="asked_about")
        for sentence in in_earnest(spoken, pack):
            lifted = Lifted.of(sentence)
            for part in (lifted.sentence, *lifted.own):
                its_pack = self.packs.by_language.get(detect(part.text), pack)
                names_people = False
                for statement in _reader(its_pack).read(part, self.speaker_in(its_pack), people=self.people):
                    if statement.relation or statement.mentioned:
                        names_people = True
                        self.people.append(statement)
                    yield sentence, _with_asides(statement, lifted), its_pack
                if not names_people:
                    self._note_people_of(part.text, its_pack, word_list="mentioned")

    def continues_speaker(self) -> bool:
        """Return whether the speaker of the message before goes on."""
        before = self.before
        return before is not None and (before.role, before.name) == (self.message.role, self.message.name)

    def begins_a_game(self) -> bool:
        """Return whether it asks for a game of roles, in which the messages that follow are said."""
        pack = self.packs.by_language.get(self._language())
        play = pack.gates.get("play") if pack is not None else None
        return play is not None and play.search(self.message.content[:_MAX_GAME_CHARS]) is not None

    def _of_a_task(self, pack: Pack) -> bool:
        """Whether it answers what was asked about a piece of work, or is the text that was announced for it."""
        if self.before is None:
            return False
        if self.before.role is not Role.ASSISTANT:
            return is_announced(self.message, self.before)
        request = self.before.content[-_MAX_REQUEST_CHARS:]
        sent, about = pack.gates.get("sent_for"), pack.gates.get("about_work")
        if sent is not None and sent.search(request):
            return True
        own = pack.words["own_words"].search(self.message.content) is not None
        return about is not None and not own and about.search(request) is not None

    def _language(self) -> str:
        """The message's own language; a bare number or name answers in the language of the question."""
        own = detect(self.message.content)
        return detect(self.before.content) if own == "und" and self.before is not None else own

    def _note_people_of(self, text: str, pack: Pack, *, word_list: str) -> None:
        """Somebody of the speaker's whom a question names is known to what follows."""
        about = pack.words.get(word_list) if pack.language == "en" else None
        for match in about.finditer(text) if about is not None else ():
            who = match.groupdict().get("who") or match.group().split(maxsplit=1)[1]
            self.people.extend(_reader(pack).read(Sentence(f"I see my {who}"), self.speaker_in(pack), people=()))

    def speaker_in(self, pack: Pack) -> Speaker:
        """Return how the pack's language names who says it."""
        speakers = _AGENTS if self.message.role is Role.ASSISTANT else _SPEAKERS
        speaker = speakers[pack.language]
        return replace(speaker, name=self.message.name) if self.message.name else speaker


def in_earnest(spoken: Sequence[Sentence], pack: Pack) -> Iterator[Sentence]:
    """Yield the sentences without those that go on with what is only supposed, up to a task whose text follows.

    "If we'd gone to Lisbon we'd be tanned. And divorced" says that nobody is divorced. Behind a task that quotes its
    text the speaker goes on.
    """
    is_supposed = False
    for sentence in spoken:
        goes_on = _GOES_ON.match(sentence.text) is not None and not shows("grave", sentence.text)
        is_supposed = bool(_SUPPOSES.search(sentence.text)) or (is_supposed and goes_on)
        if is_supposed and goes_on:
            continue
        is_task = pack.gates["paste"].search(sentence.text) is not None
        if is_task and QUOTED not in sentence.text:
            return
        if not is_task:
            yield sentence


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


_ASIDE: Final = re.compile(
    r"(?P<before>[\u2e80-\uffff]{1,2}|(?<![^\W_])[^\W_\u2e80-\uffff]{1,24})\s?\((?P<aside>[^()]{1,80})\)"
)
"""The end of the word before a pair of brackets, and what they hold."""
_CLAUSE: Final = re.compile(r"(?i)\b(?:I|my|me|we|our|it|they|she|he|you|your|is|are|was|please|not)\b|[我咱你吗呢?]")
"""It says something by itself, or takes something back."""


@dataclass(frozen=True, slots=True)
class Aside:
    """What stood in brackets, and the end of the word before it."""

    before: str
    text: str


@dataclass(frozen=True, slots=True)
class Lifted:
    """A sentence without its brackets."""

    sentence: Sentence
    asides: tuple[Aside, ...] = ()
    own: tuple[Sentence, ...] = ()
    """Sentences of their own that stood in brackets."""

    @classmethod
    def of(cls, sentence: Sentence) -> Self:
        """The sentence as it reads without what it holds in brackets."""
        if ")" not in sentence.text:
            return cls(sentence)
        asides: list[Aside] = []
        own: list[Sentence] = []

        def lift(match: re.Match[str]) -> str:
            before, aside = match["before"], match["aside"].strip(" ,;")
            if _CLAUSE.search(aside):
                own.append(Sentence(aside, asks="?" in aside))
            elif aside:
                asides.append(Aside(before, aside))
            return before

        text = _ASIDE.sub(lift, sentence.text)
        return cls(replace(sentence, text=text, literal=sentence.evidence), tuple(asides), tuple(own))

    def back(self, text: str) -> str:
        """A wording of the sentence, or of a part of it, with the brackets that stood in it."""
        at = 0
        for aside in self.asides:
            is_word = aside.before[-1] < "\u2e80"
            word = rf"(?<![^\W_]){aside.before}(?![^\W_])" if is_word else aside.before
            match = re.compile(word).search(text, at)
            if match is not None:
                bracketed = f"{' ' if is_word else ''}({aside.text})"
                text = f"{text[: match.end()]}{bracketed}{text[match.end() :]}"
                at = match.end() + len(bracketed)
        return text
