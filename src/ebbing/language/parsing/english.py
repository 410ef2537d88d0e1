"""Takes English sentences apart: plain form, clauses, subject, negation, third person."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ebbing.language.parsing.third_person import bare_verb, in_third_person, retold
from ebbing.language.patterns.rule_pack import Pack, rewritten
from ebbing.language.text.sentences import MAX_CLAUSE
from ebbing.language.text.statement import Sentence, Speaker, Statement, people_of, spoken_of_now

_MAX_CLAUSES: Final = 24
_MAX_INTROS: Final = 4
"""Words that only open a sentence ("oh well, actually")."""
_LEFT_OUT: Final = {"left_out_have": "I have", "left_out_am": "I am", "left_out_i": "I"}
"""Words that a clause without a subject may leave out, by the pack's pattern for how such a clause begins."""
_OWNED: Final = re.compile(r"(?P<whose>his|her|its|their) (?=name|birthday|age|job)", re.IGNORECASE)
"""A clause about something of somebody who was spoken of before."""
_PRONOUN_OF: Final = {"his": "he", "her": "she", "its": "it", "their": "they"}
_UNFIT: Final = {"he": "she_kin", "she": "he_kin", "it": "pet"}
"""Who a pronoun cannot mean, and for "it" who alone it can."""
_TWO: Final = " and "
"""Stands in a subject of several, which takes the verb as it was said."""
_SPACES: Final = re.compile(r"\s{2,}")
_FIRST_OF_ALL: Final = re.compile(r"(?:eldest|oldest|youngest|first|last)\b(?![- ](?:time|year))", re.IGNORECASE)
_VOWEL: Final = re.compile(r"[aeiou](?!ni|se)|uni?n|u[mnp]", re.IGNORECASE)
_WORD: Final = re.compile(r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][a-z']+\b")
"""A word that may have its capital only because it begins a sentence."""


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    asserted: bool = False
    """Introduced by "because", "since" …: true even inside a question."""


class EnglishReader:
    """Reads English with the words of one pack."""

    def __init__(self, pack: Pack) -> None:
        self._words = pack.words
        self._gates = pack.gates
        self._tables = pack.tables
        self._short = re.compile(
            rf"\b(?:{'|'.join(map(re.escape, pack.tables['contractions']))})(?![\w'])", re.IGNORECASE
        )
        self._relations = pack.tables["relations"]
        self._rewrites = pack.rewrites

    def read(self, sentence: Sentence, speaker: Speaker, *, people: Sequence[Statement]) -> list[Statement]:
        """The statements of a sentence, in order; `people` were spoken of before."""
        plain = self.plain(sentence.text)
        statements: list[Statement] = []
        for clause in self._asserted(plain, asks=sentence.asks):
            statement = self._statement(clause, speaker, people=[*people, *statements])
            if statement is not None:
                statements.append(statement)
        return statements

    def plain(self, text: str) -> str:
        """Contractions written out, common misspellings mended, `I` in capitals."""
        written = self._tables["contractions"]  # "İ" matches "i" but is not one in lower case
        text = self._words["has_got"].sub(r"\g<who>\g<also> has", text)
        text = self._short.sub(lambda short: written.get(short.group().lower(), short.group()), text)
        text = rewritten(text, self._rewrites["sentence"])
        for short in ("is_short", "name_is_short"):
            text = self._words[short].sub(r"\g<who> is", text)
        text = self._words["who_is"].sub(r"\g<who> \g<what>; \g<who> ", text)
        return _SPACES.sub(" ", self._words["as_a"].sub(r"I am \g<what>; ", text)).strip()

    def _asserted(self, plain: str, *, asks: bool) -> list[str]:
        """The clauses that state something: without questions, conditions and what others said."""
        reported = self._words["told"].match(plain)
        if reported is not None:
            plain, asks = plain[reported.end() :], False
        request = self._words["asked_to"].match(plain)
        if request is not None:
            plain, asks = f"please {plain[request.end() :]}", False
        if self._gates["sentence"].search(plain):
            return []
        clauses = self._beside_a_task(plain)
        if asks and clauses and not clauses[-1].asserted:
            tag = self._words["tag"].search(plain)
            clauses = clauses if tag else clauses[:-1]
        clause_texts: list[str] = []
        for clause in clauses:
            if len(clause.text) > MAX_CLAUSE:
                continue
            if self._gates["stop"].search(clause.text):
                break
            if not self._gates["clause"].search(clause.text):
                clause_texts.append(clause.text)
        return clause_texts

    def _beside_a_task(self, plain: str) -> list[_Clause]:
        """The clauses; where the first is a task ("plan my week, I work nights"), those about the speaker."""
        clauses = list(self._clauses(plain))
        if not self._gates["task"].match(plain):
            return clauses
        return [clause for clause in clauses[1:] if self._words["first_person"].match(clause.text)]

    def _clauses(self, plain: str) -> Iterator[_Clause]:
        start, asserted = 0, False
        joined = self._words["and_i"].sub(
            lambda match: f"we ‹{match['company'] or match['other'] or match['name']}›", plain
        )
        if self._words["standing"].match(joined):
            yield _Clause(joined)
            return
        for edge in list(self._words["edge"].finditer(joined))[:_MAX_CLAUSES]:
            if self._is_head(joined, start, end=edge.end()):
                continue
            yield from self._verbs(joined[start : edge.start()], asserted=asserted)
            start, asserted = edge.end(), bool(self._words["reason"].search(edge.group()))
        yield from self._verbs(joined[start:], asserted=asserted)

    def _is_head(self, text: str, start: int, *, end: int) -> bool:
        """Whether nothing but filler and time words stands there ("Actually, on weekends, I …")."""
        at = start
        for _ in range(_MAX_INTROS):
            intro = self._words["intro"].match(text, at, end)
            if intro is None or not intro.group():
                break
            at = intro.end()
        lead = self._words["lead"].match(text, at)
        return (lead.end() if lead else at) >= end

    def _verbs(self, clause: str, *, asserted: bool) -> Iterator[_Clause]:
        """One clause for each verb of "I live in Boston and work at a bank"."""
        clause = clause.strip(" ,-")
        subject = self._words["subject"].match(self._headless(clause))
        start = 0
        if subject is not None and not self._words["infinitive"].search(clause):
            for edge in self._words["verb_edge"].finditer(clause):
                yield _Clause(self._again(clause[start : edge.start()], subject.group() if start else ""), asserted)
                start = edge.end()
        yield _Clause(self._again(clause[start:], subject.group() if subject and start else ""), asserted)

    def _headless(self, clause: str) -> str:
        intro = self._words["intro"].match(clause)
        clause = clause[intro.end() :] if intro else clause
        lead = self._words["lead"].match(clause)
        return clause[lead.end() :] if lead else clause

    @staticmethod
    def _again(clause: str, subject: str) -> str:
        return f"{subject}{clause}".strip(" ,-")

    def _statement(self, clause: str, speaker: Speaker, *, people: Sequence[Statement]) -> Statement | None:
        clause, corrects = self._without_intro(clause)
        clause, hedged = unhedged(clause, self._words)
        clause, _ = self._without_intro(clause)
        clause = self._words["dangling"].sub("", clause)
        if self._words["adds"].match(clause):
            return Statement("clause", clause=clause, predicate=clause, text=retold(clause, speaker), adds=True)
        clause = self._with_its_subject(clause, rewritten(clause, self._rewrites["clause"]))
        clause = self._with_people(clause, speaker, people=people)
        clause = self._with_owner(clause, speaker, people=people)
        if not clause or self._gates["clause"].search(clause) or self._gates["passing"].match(clause):
            return None
        lead = self._words["lead"].match(clause)
        body = rewritten(clause[lead.end() :], self._rewrites["clause"]) if lead else clause
        time = lead.group("time").strip(" ,") if lead else ""
        statement = self._about(body, speaker, people=people)
        if statement is None:
            statement = self._bare(body, speaker)
        text = f"{statement.text} {retold(f'{time[0].lower()}{time[1:]}', speaker)}" if time else statement.text
        return replace(
            statement, lead=f"{time} {statement.lead}".strip(), text=text, hedged=hedged, corrects=corrects,
            mentioned=self._mentioned(statement, speaker),
        )  # fmt: skip

    def _mentioned(self, statement: Statement, speaker: Speaker) -> Statement | None:
        last = None if statement.relation else deque(self._words["mentioned"].finditer(statement.clause), maxlen=1)
        return self._relation(last[0], speaker, body="") if last else None

    def _without_intro(self, clause: str) -> tuple[str, bool]:
        corrects = False
        for _ in range(_MAX_INTROS):
            intro = self._words["intro"].match(clause)
            if intro is None or not intro.group():
                break
            corrects = corrects or bool(self._words["correction"].search(intro.group()))
            clause = clause[intro.end() :].lstrip(" ,:-")
        return clause, corrects

    def _about(self, body: str, speaker: Speaker, *, people: Sequence[Statement]) -> Statement | None:
        own = self._words["self_subject"].match(body)
        if own is not None:
            company = own.group("company")
            subject = f"{speaker.name}{_TWO}{retold(company, speaker)}" if company else speaker.name
            blank = Statement("self", clause=body, predicate="", text="", subject=subject, owner=f"{speaker.name}'s")
            return self._predicate(blank, body[own.end() :], speaker=speaker)
        kin = self._words["relation_subject"].match(body)
        if kin is not None:
            return self._predicate(self._relation(kin, speaker, body=body), body[kin.end() :], speaker=speaker)
        named = self._words["introduced"].match(body)
        if named is not None:
            return self._introduced(named, speaker)
        other = self._words["other_subject"].match(body)
        if other is None:
            return None
        person = self._meant(other.group().split()[0], people)
        if person is not None:
            person = replace(person, clause=body, lead="", pronoun=other["pronoun"] or "")
            return self._predicate(person, body[other.end() :], speaker=speaker)
        return Statement("clause", clause="", predicate="", text="") if other["pronoun"] else None

    def _meant(self, phrase: str, people: Sequence[Statement]) -> Statement | None:
        """Whom a pronoun or a first name stands for: of the people spoken of, the last whom the pronoun fits, or the
        one who is called so.
        """
        pronoun = phrase.lower()
        if pronoun not in _UNFIT and pronoun != "they":
            return _called(phrase, people)
        for item in reversed(spoken_of_now(people)):
            kin = item.relation or ""
            if pronoun == "they" or bool(self._words[_UNFIT[pronoun]].search(kin)) == (pronoun == "it"):
                return item
        return None

    def _with_people(self, clause: str, speaker: Speaker, *, people: Sequence[Statement]) -> str:
        """The clause with the person that "him" or "her" means: "I am her carer" says "I am my mum's carer"."""
        own = bool(people) and self._words["first_person"].match(clause) is not None
        match = self._words["of_them"].search(clause) if own else None
        person = self._meant("he" if match["he"] else "she", people) if match else None
        if match is None or person is None:
            return clause
        who = person.subject if match["owns"] is None and match["owns2"] is None else person.owner
        return clause[: match.start()] + who.replace(f"{speaker.name}'s", "my", 1) + clause[match.end() :]

    def _with_owner(self, clause: str, speaker: Speaker, *, people: Sequence[Statement]) -> str:
        """The clause with whose it is: "her name is Lily" says "my sister's name is Lily"."""
        match = _OWNED.match(clause)
        person = self._meant(_PRONOUN_OF[match["whose"].lower()], people) if match else None
        if match is None or person is None:
            return clause
        return person.owner.replace(f"{speaker.name}'s", "my", 1) + clause[match.end("whose") :]

    def _relation(self, kin: re.Match[str], speaker: Speaker, *, body: str) -> Statement:
        noun, name = kin.group("kin").lower(), (kin.group("called") or "").strip(" ,")
        key = self._relations.get(noun, noun)
        described = " ".join(filter(None, [kin.group("adjective").strip(), kin.group("kin"), name]))
        unique = bool(self._words["unique_relation"].fullmatch(noun)) or bool(name)
        label = " ".join(filter(None, [kin.group("adjective").strip().lower(), key, name]))
        some = f"{kin['quantity']} " if kin["quantity"] else ""
        subject = f"{some}{speaker.name}'s {described}"
        return Statement(
            "relation", clause=body, predicate="", text="", subject=subject, owner=f"{subject}'s",
            relation=label, unique=unique,
        )  # fmt: skip

    def _introduced(self, named: re.Match[str], speaker: Speaker) -> Statement:
        """ "Priya is my best friend" makes her known to the clauses that follow."""
        noun = named.group("kin").lower()
        subject = f"{speaker.name}'s {named.group('adjective')}{named.group('kin')}"
        full = f"{subject} {named.group('name')}"
        return Statement(
            "relation", clause=named.group(), predicate=f"am called {named.group('name')}",
            text=f"{subject} is {named.group('name')}", subject=full, owner=f"{full}'s",
            relation=self._relations.get(noun, noun), unique=bool(self._words["unique_relation"].fullmatch(noun)),
        )  # fmt: skip

    def _predicate(self, blank: Statement, phrase: str, *, speaker: Speaker) -> Statement:
        """Adverbs and negation are set apart; the verb is put into its base form for the rules."""
        adverbs = self._words["adverb_run"].match(phrase)
        adverb_text = self._words["filler"].sub("", adverbs.group()) if adverbs else ""
        rest = phrase[adverbs.end() :] if adverbs else phrase
        negation = self._words["negation"].match(rest)
        ended = self._words["no_more"].search(phrase) is not None
        predicate = f"{_helper(negation)} {rest[negation.end() :]}" if negation else rest
        predicate = self._words["no_more"].sub("", predicate).strip(" ,")
        extra = self._words["adverb_after"].match(predicate)
        if extra is not None:
            predicate = f"{extra.group('verb')} {predicate[extra.end() :]}"
        relation = blank.who == "relation"
        predicate = bare_verb(predicate, self._tables["bare"], third=relation)
        many = relation or _TWO in blank.subject
        spoken = rest if many else in_third_person(rest, self._words, irregular=self._tables["third"])
        text = _SPACES.sub(" ", f"{blank.subject} {adverb_text} {retold(spoken, speaker)}").strip()
        past = "did" if negation and (negation["helper"] or "").lower() == "did" else ""
        return replace(
            blank, predicate=predicate, text=text, negated=negation is not None or ended, ended=ended,
            lead=" ".join(filter(None, [past, adverbs.group().strip() if adverbs else ""])),
        )  # fmt: skip

    def _bare(self, body: str, speaker: Speaker) -> Statement:
        """A clause without a subject that we know: an order, a fragment, or "my name is …"."""
        if self._words["order"].match(body):
            request = self._words["polite"].sub("", body) or body
            text = retold(f"{request[0].lower()}{request[1:]}", replace(speaker, assistant=""))
            owner = f"{speaker.name}'s"
            return Statement("order", clause=body, predicate=body, text=f"{owner} rule: {text}", owner=owner)
        text = retold(body, speaker, owner=f"{speaker.name}'s")
        return Statement("clause", clause=body, predicate=body, text=text[:1].upper() + text[1:],
                         subject=speaker.name, owner=f"{speaker.name}'s",
                         implied=self._understood(body, speaker))  # fmt: skip

    def _understood(self, body: str, speaker: Speaker) -> Statement | None:
        """The clause with "I" or "I am" before it, where that is left out ("mother of two", "got burgled in May")."""
        head = next((put for name, put in _LEFT_OUT.items() if self._words[name].match(body)), None)
        if head is None:
            return None
        statement = self._about(f"{head} {self._begun(body, after=head)}", speaker, people=())
        return replace(statement, carried=True) if statement else None

    def _with_its_subject(self, text: str, plain: str) -> str:
        """The rewritten clause; where a subject came before it, its first word no longer begins a sentence."""
        put = plain[: -len(text)] if plain.endswith(text) else ""
        return f"{put}{self._begun(text, after=put)}" if put else plain

    def _begun(self, text: str, *, after: str) -> str:
        """What began a sentence, as it stands within one: "based in Hull" small, "Irish" not, "nurse" with an article.

        `after`: the words that are put before it.
        """
        word = _WORD.match(text)
        if word is not None and (self._words["diet"].match(text) or not self._words["ethnic"].fullmatch(word.group())):
            text = f"{text[0].lower()}{text[1:]}"
        role = self._words["bare_role"].match(text) if after.strip() == "I am" else None
        if role is None:
            return text
        return f"{role['before']}{_article(role['role'])} {text[role.start('role') :].removesuffix(' here')}"


def _called(name: str, people: Sequence[Statement]) -> Statement | None:
    """Who of the people spoken of is called so; None where two are."""
    persons: dict[str, Statement] = {}
    for item in people_of(people):
        relation = (item.relation or "").removesuffix(f" {name}")
        if item.subject.endswith(f" {name}"):
            persons[relation] = item
        elif item.predicate in {f"am called {name}", f"am {name}"}:
            subject = f"{item.subject} {name}"
            persons.setdefault(relation, replace(item, subject=subject, owner=f"{subject}'s"))
    return next(iter(persons.values())) if len(persons) == 1 else None


def _article(role: str) -> str:
    """What stands before a role: "a nurse", "an only child", "the eldest of five"."""
    if _FIRST_OF_ALL.match(role):
        return "the"
    return "an" if _VOWEL.match(role) else "a"


def _helper(negation: re.Match[str]) -> str:
    """The verb that a negation leaves behind: "am not" → am, "cannot" → can, "do not" → none."""
    if negation["cannot"]:
        return "can"
    helper = (negation["helper"] or negation["before"] or "").lower()
    return "" if helper in {"do", "does", "did"} else helper


def unhedged(clause: str, words: Mapping[str, re.Pattern[str]]) -> tuple[str, bool]:
    """The clause without a hedge at its head, and whether it was hedged anywhere."""
    head = words["hedge_head"].match(clause)
    plain = clause[head.end() :].lstrip(" ,") if head else clause
    return plain, head is not None or words["hedge"].search(plain) is not None
