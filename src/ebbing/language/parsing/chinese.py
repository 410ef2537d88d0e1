"""Takes Chinese sentences apart: clauses, subject (also an unspoken one), adverbs, negation, third person.

Patterns are written in simplified characters; text is folded to them one to one for matching, and cut from the
original, so that a fact keeps the speaker's own script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from ebbing.language.patterns.pattern_compiler import filled
from ebbing.language.patterns.rule_pack import Pack, Rewrite, rewritten
from ebbing.language.text.sentences import GAP, MAX_CLAUSE
from ebbing.language.text.statement import Sentence, Speaker, Statement, people_of, spoken_of_now

_MAX_CLAUSES: Final = 24
_PET: Final = re.compile(r"[猫狗犬鸟兔龟鱼]|仓鼠|鹦鹉|宠物|柯基|布偶|金毛|三花|玄凤")
_OF_WOMEN: Final = re.compile(r"[妈母姐妹娘姑姨婶嫂妻]|奶奶|外婆|婆婆|姥姥|老婆|太太|媳妇|女儿|闺女|女友|女朋友|孙女")
_NAME: Final = r"[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+"
_FIRST_NAME: Final = re.compile(rf"^叫做?(?P<name>{_NAME})$")
_SAYS_OF: Final = (
    r"\s?(?:[是有在对也都还最今现去来要会能不没喜爱怕吃喝住做养属很特超真平每上明昨前刚已快考学得生发查确离结退]|$)"
)
"""What may stand behind a name that is a subject."""
_OF_MEN: Final = re.compile(r"[爸父哥弟爷叔舅伯夫]|外公|公公|老公|先生|儿子|男友|男朋友|孙子")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text as said, and folded to simplified characters; both of one length."""

    original: str
    folded: str
    apart: bool = False
    """It stands behind a semicolon: a subject that it leaves out is not that of the clause before."""

    def cut(self, start: int, end: int | None = None) -> _Piece:
        return _Piece(self.original[start:end], self.folded[start:end])

    def after(self, match: re.Match[str] | None) -> _Piece:
        return self if match is None else self.cut(match.end())

    def stripped(self) -> _Piece:
        start = len(self.folded) - len(self.folded.lstrip(" ,、:"))
        return self.cut(start, len(self.folded.rstrip(" ,、:")))


@dataclass(frozen=True, slots=True)
class _Context:
    """What is known before a clause is read."""

    speaker: Speaker
    people: Sequence[Statement]
    carried: Statement | None
    """The last clause of the sentence that had a subject: an unspoken subject is the same."""
    elsewhere: bool = False
    """That subject is nobody of the speaker's own: a star, a passer-by, people in general."""
    of_me: bool = False
    """The clause has 我 for an object: the speaker is not the subject that it leaves out."""


class ChineseReader:
    """Reads Chinese with the words of one pack."""

    def __init__(self, pack: Pack) -> None:
        self._words = pack.words
        self._gates = pack.gates
        self._relations = pack.tables["relations"]
        self._rewrites = pack.rewrites
        self._named_kin = re.compile(rf"(?:{pack.words['kin'].pattern})(?P<name>{_NAME})$")
        script = pack.tables["script"]
        self._fold = str.maketrans(script["traditional"], script["simplified"])

    def read(self, sentence: Sentence, speaker: Speaker, *, people: Sequence[Statement]) -> list[Statement]:
        """The statements of a sentence, in order; `people` were spoken of before."""
        text = self._rewritten(GAP.sub(",", sentence.text), "sentence")
        whole = _Piece(text, text.translate(self._fold))
        reported = self._words["told"].search(whole.folded)
        if self._gates["sentence"].search(whole.folded):
            return []
        asked_for = self._gates["request"].search(whole.folded) is not None
        statements: list[Statement] = []
        carried: Statement | None = None
        elsewhere = corrects = False
        for piece in self._asserted(whole, asks=sentence.asks and reported is None):
            if asked_for and not self._words["told_beside"].match(piece.folded):
                continue
            asked_for = False
            if piece.apart:
                carried = None
            spoken_of = [*people, *statements]
            elsewhere = elsewhere or self._is_of_a_third(piece, spoken_of, is_first=carried is None)
            statement = self._statement(piece, _Context(speaker, spoken_of, carried, elsewhere))
            if statement is None:
                corrects = corrects or self._says_it_was_wrong(piece)
                carried = _blank(speaker) if self._words["me_again"].match(piece.folded) else carried
                elsewhere = elsewhere or self._words["kin"].search(piece.folded) is not None
                continue
            statements.append(replace(statement, corrects=True) if corrects else statement)
            if statement.who in {"self", "relation"}:
                carried, elsewhere = statement, self._words["goes_over"].search(statement.predicate) is not None
            elsewhere = elsewhere or self._words["newcomer"].search(piece.folded) is not None
        return statements

    def _is_of_a_third(self, piece: _Piece, spoken_of: Sequence[Statement], *, is_first: bool) -> bool:
        """Whether a clause begins with nobody of the speaker's: a star, a nickname, 他 whom nothing before names."""
        names = ("stranger", "third", "nickname")
        is_third = any(self._words[name].match(piece.folded) for name in names)
        if is_third and self._called(piece, spoken_of) is None:
            return True
        is_unknown = is_first and not spoken_of_now(spoken_of)
        pronoun = self._words["pronoun_subject"].match(piece.folded)
        return is_unknown and pronoun is not None

    def _asserted(self, whole: _Piece, *, asks: bool) -> list[_Piece]:
        """The clauses that state something: without questions, conditions and what others said."""
        clauses = list(self._clauses(whole))
        if asks and clauses and not self._words["tag"].search(whole.folded):
            clauses.pop()
        pieces: list[_Piece] = []
        for clause in clauses:
            if len(clause.folded) > MAX_CLAUSE:
                continue
            if self._gates["stop"].search(clause.folded):
                break
            if not self._gates["clause"].search(clause.folded):
                pieces.append(clause)
        return pieces

    def _clauses(self, whole: _Piece) -> Iterator[_Piece]:
        start, apart = 0, False
        for edge in list(self._words["edge"].finditer(whole.folded))[:_MAX_CLAUSES]:
            part = whole.cut(start, edge.start())
            if self._words["lead_only"].fullmatch(part.folded.strip()) or self._goes_on(part, whole.cut(edge.end())):
                continue
            start = edge.end()
            if part.folded.strip():
                yield replace(part.stripped(), apart=apart)
            apart = ";" in edge.group()
        if whole.folded[start:].strip():
            yield replace(whole.cut(start).stripped(), apart=apart)

    def _goes_on(self, part: _Piece, rest: _Piece) -> bool:
        """Whether the comma only stands between things that are listed ("我喜欢唱歌,跳舞,旅游")."""
        return bool(self._words["listing"].search(part.folded) and self._words["listed"].match(rest.folded))

    def _statement(self, piece: _Piece, hearing: _Context) -> Statement | None:
        intro = self._words["intro"].match(piece.folded)
        corrects = intro is not None and self._words["correction"].search(intro.group()) is not None
        piece = piece.after(intro).stripped()
        hedge = self._words["hedge_head"].match(piece.folded)
        hedged = hedge is not None or self._words["hedge"].search(piece.folded) is not None
        piece = piece.after(hedge).stripped()
        tail = self._words["particles"].search(piece.folded)
        piece = piece.cut(0, tail.start() if tail else None)
        if self._words["me_object"].search(piece.folded):
            hearing = replace(hearing, of_me=True)
        piece = piece if hearing.of_me or self._of_another(piece, hearing) else self._plain(piece)
        if len(piece.folded) < 2 or self._gates["clause"].search(piece.folded):
            return None
        if self._words["adds"].match(piece.folded):
            return replace(self._bare(piece, hearing.speaker, who="clause"), adds=True)
        is_known = self._called(piece, hearing.people) is not None
        if hearing.elsewhere and not is_known and not self._words["own_words"].search(piece.folded):
            return replace(_blank(hearing.speaker), who="clause", text=piece.original)
        statement = self._about(piece, hearing)
        mentioned = self._mentioned(statement, piece, speaker=hearing.speaker)
        return replace(statement, hedged=hedged, corrects=corrects, mentioned=mentioned)

    def _says_it_was_wrong(self, piece: _Piece) -> bool:
        """Whether a clause says no more than that the last word was wrong: 说错了."""
        intro = self._words["intro"].match(piece.folded)
        alone = intro is not None and intro.end() == len(piece.folded)
        return alone and self._words["correction"].search(piece.folded) is not None

    def _of_another(self, piece: _Piece, hearing: _Context) -> bool:
        """Whether somebody named without an owner is not the speaker's: "my sister is a nurse, her man sells cars"."""
        relation = hearing.carried.relation if hearing.carried else None
        if hearing.elsewhere or relation is None:
            return hearing.elsewhere
        return bool(self._words["has_own"].match(relation) and self._words["spouse"].match(piece.folded))

    def _mentioned(self, statement: Statement, piece: _Piece, *, speaker: Speaker) -> Statement | None:
        matches = [*self._words["mentioned"].finditer(piece.folded), *self._words["have_kin"].finditer(piece.folded)]
        last = None if statement.relation else matches[-1:]
        return self._relation(last[0], piece, speaker=speaker) if last else None

    def _plain(self, piece: _Piece) -> _Piece:
        text = self._rewritten(piece.original, "clause")
        return piece if text == piece.original else _Piece(text, text.translate(self._fold))

    def _rewritten(self, text: str, of: str) -> str:
        """The text in plainer words; what is said in traditional characters stays in them."""
        folded = text.translate(self._fold)
        if folded == text:
            return rewritten(text, self._rewrites[of])
        rewrites = self._rewrites[of]
        places = rewrites.places_in(folded)
        while (place := next(places, None)) is not None:
            plain = self._put(rewrites.pairs[place][0], original=text, folded=folded)
            if plain != text:
                text, folded = plain, plain.translate(self._fold)
                places = rewrites.places_in(folded, after=place)
        return text

    def _put(self, rewrite: Rewrite, *, original: str, folded: str) -> str:
        """One rewriting, found in the folded text and filled from the text as said."""
        plain, start = "", 0
        for match in rewrite.find.made.finditer(folded):
            groups = {name: original[slice(*match.span(name))] for name, text in match.groupdict().items() if text}
            plain += original[start : match.start()] + filled(rewrite.put, groups)
            start = match.end()
        return plain + original[start:]

    def _about(self, piece: _Piece, hearing: _Context) -> Statement:
        """Whom the clause is about, and what it says."""
        speaker = hearing.speaker
        if self._words["order"].match(piece.folded):
            return self._bare(piece, speaker, who="order")
        if self._words["whole"].match(piece.folded):
            return self._bare(self._owned(piece), speaker, who="clause")
        named = self._words["introduced"].match(piece.folded)
        if named is not None:
            return self._introduced(named, speaker)
        kin = self._words["relation_subject"].match(piece.folded)
        if kin is not None:
            return self._predicate(self._relation(kin, piece, speaker=speaker), piece, match=kin, speaker=speaker)
        own = self._words["self_subject"].match(piece.folded)
        if own is not None:
            company = self._retold(piece.cut(*own.span("company")).original, speaker) if own["company"] else ""
            return self._predicate(_blank(speaker, company), piece, match=own, speaker=speaker)
        called = self._called(piece, hearing.people)
        if called is not None:
            person, name = called
            return self._predicate(person, piece.cut(len(name)), match=None, speaker=speaker)
        return self._unspoken(piece, hearing)

    def _called(self, piece: _Piece, spoken_of: Sequence[Statement]) -> tuple[Statement, str] | None:
        """Whom of the speaker's people the name at the head of a clause means, and that name: 小美对花生过敏.

        None where two are called so.
        """
        persons: dict[str, tuple[Statement, str]] = {}
        for person in people_of(spoken_of):
            match = _FIRST_NAME.search(person.predicate) or self._named_kin.search(person.subject)
            if match is not None and _begins_with(match["name"]).match(piece.folded):
                name = match["name"]
                subject = person.subject if person.subject.endswith(name) else f"{person.subject}{name}"
                relation = (person.relation or "").removesuffix(name)
                persons[relation] = replace(person, subject=subject, owner=f"{subject}的", lead="", pronoun=""), name
        return next(iter(persons.values())) if len(persons) == 1 else None

    def _owned(self, piece: _Piece) -> _Piece:
        """The address is the speaker's: 地址改成… reads 我的地址改成…."""
        if self._words["own_words"].match(piece.folded):
            return piece
        return _Piece(f"我的{piece.original}", f"我的{piece.folded}")

    def _unspoken(self, piece: _Piece, hearing: _Context) -> Statement:
        """A clause whose subject is a pronoun, the clause before, or left out."""
        speaker = hearing.speaker
        pronoun = self._words["pronoun_subject"].match(piece.folded)
        people = spoken_of_now(hearing.people)
        if hearing.elsewhere and not hearing.of_me:
            return self._bare(piece, speaker, who="clause")
        if hearing.elsewhere:
            return replace(_blank(speaker), who="clause", text=piece.original)
        if pronoun is not None:
            meant = _meant(pronoun.group(), people)
            if meant is not None:
                meant = replace(meant, pronoun=pronoun.group())
                return self._predicate(meant, piece.after(pronoun), match=None, speaker=speaker)
        elif hearing.carried is not None:
            if hearing.carried.relation is None and hearing.of_me:
                return replace(_blank(speaker), who="clause", text=piece.original)
            return self._carried(hearing.carried, piece, speaker=speaker)
        implied = self._predicate(_blank(speaker), piece, match=None, speaker=speaker)
        if pronoun is None and not hearing.of_me and self._words["dropped"].match(piece.folded):
            return implied
        bare = self._bare(piece, speaker, who="clause")
        if hearing.of_me:
            return replace(bare, clause="", predicate="")
        if implied.text and pronoun is None and self._words["own_words"].search(piece.folded) is None:
            bare = replace(bare, text=implied.text)
        spoken = pronoun is not None or self._words["own_words"].search(piece.folded) is not None
        return bare if spoken else replace(bare, implied=implied)

    def _carried(self, before: Statement, piece: _Piece, *, speaker: Speaker) -> Statement:
        """A clause about whom the clause before is; what that tells of today, this tells of today too."""
        now = self._words["passing_time"].match(before.lead)
        predicate = self._predicate(before, piece, match=None, speaker=speaker)
        return replace(predicate, carried=True, lead=f"{now.group() if now else ''}{predicate.lead}")

    def _relation(self, kin: re.Match[str], piece: _Piece, *, speaker: Speaker) -> Statement:
        noun, name = kin.group("kin"), kin.group("called") or ""
        described = piece.original[kin.start("adjective") : kin.end("called") if kin["called"] else kin.end("kin")]
        return replace(
            _blank(speaker, f"的{described}"),
            who="relation",
            relation=f"{self._relations.get(noun, noun)}{name}",
            unique=bool(name) or self._words["unique_relation"].fullmatch(noun) is not None,
        )

    def _introduced(self, named: re.Match[str], speaker: Speaker) -> Statement:
        """ "张静怡是我的母亲" makes her known to the clauses that follow."""
        noun, name = named.group("kin"), named.group("name")
        described = f"的{named.group('adjective')}{noun}"
        return replace(
            _blank(speaker, f"{described}{name}"),
            who="relation",
            predicate=f"叫{name}",
            text=f"{speaker.name}{described}是{name}",
            clause=named.group(),
            relation=self._relations.get(noun, noun),
            unique=self._words["unique_relation"].fullmatch(noun) is not None,
        )

    def _predicate(
        self, blank: Statement, piece: _Piece, *, match: re.Match[str] | None, speaker: Speaker
    ) -> Statement:
        """Adverbs and negation are set apart; what is left is the predicate that the rules match."""
        time = piece.cut(*match.span("time")) if match and match["time"] else _Piece("", "")
        rest = piece.cut(match.end("subject") if match else 0)
        adverbs = self._words["adverb_run"].match(rest.folded)
        before, rest = rest.cut(0, adverbs.end() if adverbs else 0), rest.after(adverbs)
        negation = self._words["negation"].match(rest.folded)
        bare = rest.after(negation)
        inner = self._words["adverb_run"].match(bare.folded)
        bare = self._with_have(bare.after(inner), negation)
        ended = negation is not None and (
            bare.folded.endswith("了") or self._words["no_more"].search(piece.folded) is not None
        )
        length = len(bare.folded.rstrip("了")) or None
        adverb_text = self._meaningful_adverbs(before)
        return replace(
            blank,
            clause=piece.folded,
            predicate=bare.folded[:length],
            spoken=bare.original[:length],
            text=f"{blank.subject}{time.original.strip(' ,')}{adverb_text}{self._retold(rest.original, speaker)}",
            negated=negation is not None,
            ended=ended,
            lead=f"{time.folded}{before.folded}{inner.group() if inner else ''}",
        )

    def _with_have(self, bare: _Piece, negation: re.Match[str] | None) -> _Piece:
        """没 and 没有 before a noun deny that there is one: 没(有)孩子 reads 有孩子."""
        if negation is None or not negation["has"] or self._words["after_have"].match(bare.folded):
            return bare
        return _Piece(f"有{bare.original}", f"有{bare.folded}")

    def _meaningful_adverbs(self, adverbs: _Piece) -> str:
        """The adverbs that say something, 老是 as 经常."""
        text = self._words["filler"].sub("", adverbs.original)
        return self._words["too_often"].sub("经常", text)

    def _bare(self, piece: _Piece, speaker: Speaker, *, who: Literal["order", "clause"]) -> Statement:
        predicate = piece.folded.rstrip("了") or piece.folded
        return replace(
            _blank(speaker),
            who=who,
            clause=piece.folded,
            predicate=predicate,
            spoken=piece.original[: len(predicate)],
            text=self._retold(piece.original, speaker),
        )

    def _retold(self, text: str, speaker: Speaker) -> str:
        """我 becomes the speaker, 你 the assistant."""
        text = self._words["our"].sub(f"{speaker.name}的", text)
        text = self._words["me"].sub(speaker.name, text)
        return self._words["you"].sub(speaker.assistant, text)


def _meant(pronoun: str, people: Sequence[Statement]) -> Statement | None:
    """Whom a pronoun stands for: 它 is a pet, 他 no woman and 她 no man of the speaker's."""
    for person in reversed(people):
        relation = person.relation or ""
        is_pet = _PET.search(relation) is not None
        if is_pet != pronoun.startswith("它"):
            continue
        unfit = _OF_WOMEN if pronoun.startswith("他") else _OF_MEN
        if is_pet or unfit.search(relation) is None:
            return person
    return None


@lru_cache(maxsize=256)
def _begins_with(name: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(name)}(?={_SAYS_OF})")


def _blank(speaker: Speaker, described: str = "") -> Statement:
    """A statement about the speaker, or about whom the description names, that says nothing yet."""
    subject = f"{speaker.name}{described}"
    return Statement("self", clause="", predicate="", text="", subject=subject, owner=f"{subject}的")
