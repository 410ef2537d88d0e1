"""Takes Chinese sentences apart: clauses, subject (also an unspoken one), adverbs, negation, third person.

Patterns are written in simplified characters; text is folded to them one to one for matching, and cut from the
original, so that a fact keeps the speaker's own script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ebbing.language.rulebook import Pack
from ebbing.language.statement import Sentence, Speaker, Statement

_MAX_CLAUSES: Final = 24


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text as said, and folded to simplified characters; both of one length."""

    said: str
    folded: str

    def cut(self, start: int, end: int | None = None) -> _Piece:
        return _Piece(self.said[start:end], self.folded[start:end])

    def stripped(self) -> _Piece:
        start = len(self.folded) - len(self.folded.lstrip(" ,、:"))
        return self.cut(start, len(self.folded.rstrip(" ,、:")))


class ChineseReader:
    """Reads Chinese with the words of one pack."""

    def __init__(self, pack: Pack) -> None:
        self._words = pack.words
        self._gates = pack.gates
        self._relations = pack.tables["relations"]
        script = pack.tables["script"]
        self._fold = str.maketrans(script["traditional"], script["simplified"])

    def read(self, sentence: Sentence, speaker: Speaker, people: Sequence[Statement]) -> list[Statement]:
        whole = _Piece(sentence.text, sentence.text.translate(self._fold))
        told = self._words["told"].search(whole.folded)
        if self._gates["sentence"].search(whole.folded):
            return []
        found: list[Statement] = []
        carried: Statement | None = None
        for piece in self._asserted(whole, asks=sentence.asks and told is None):
            statement = self._statement(piece, speaker, [*people, *found], carried)
            if statement is None:
                continue
            found.append(statement)
            if statement.who in {"self", "relation"}:
                carried = statement
        return found

    def _asserted(self, whole: _Piece, *, asks: bool) -> list[_Piece]:
        """The clauses that state something: without questions, conditions and what others said."""
        clauses = list(self._clauses(whole))
        if asks and clauses and not self._words["tag"].search(whole.folded):
            clauses.pop()
        kept: list[_Piece] = []
        for clause in clauses:
            if self._gates["stop"].search(clause.folded):
                break
            if not self._gates["clause"].search(clause.folded):
                kept.append(clause)
        return kept

    def _clauses(self, whole: _Piece) -> Iterator[_Piece]:
        start = 0
        for edge in list(self._words["edge"].finditer(whole.folded))[:_MAX_CLAUSES]:
            part = whole.cut(start, edge.start())
            if self._words["lead_only"].fullmatch(part.folded.strip()) or self._goes_on(part, whole.cut(edge.end())):
                continue
            start = edge.end()
            if part.folded.strip():
                yield part.stripped()
        if whole.folded[start:].strip():
            yield whole.cut(start).stripped()

    def _goes_on(self, part: _Piece, rest: _Piece) -> bool:
        """Whether the comma only stands between things that are listed ("我喜欢唱歌,跳舞,旅游")."""
        return bool(self._words["listing"].search(part.folded) and self._words["listed"].match(rest.folded))

    def _statement(
        self, piece: _Piece, speaker: Speaker, people: Sequence[Statement], carried: Statement | None
    ) -> Statement | None:
        intro = self._words["intro"].match(piece.folded)
        corrects = intro is not None and self._words["correction"].search(intro.group()) is not None
        piece = piece.cut(intro.end() if intro else 0).stripped()
        hedge = self._words["hedge_head"].match(piece.folded)
        hedged = hedge is not None or self._words["hedge"].search(piece.folded) is not None
        piece = piece.cut(hedge.end() if hedge else 0).stripped()
        tail = self._words["particles"].search(piece.folded)
        piece = piece.cut(0, tail.start() if tail else None)
        if len(piece.folded) < 2 or self._gates["clause"].search(piece.folded):
            return None
        statement = self._about(piece, speaker, people, carried)
        return replace(statement, hedged=hedged, corrects=corrects)

    def _about(
        self, piece: _Piece, speaker: Speaker, people: Sequence[Statement], carried: Statement | None
    ) -> Statement:
        if self._words["order"].match(piece.folded):
            return self._bare(piece, speaker, "order")
        if self._words["whole"].match(piece.folded):
            return self._bare(piece, speaker, "clause")
        blank = Statement(
            "self", clause=piece.folded, predicate="", text="", subject=speaker.name, owner=f"{speaker.name}的"
        )
        kin = self._words["relation_subject"].match(piece.folded)
        if kin is not None:
            return self._predicate(
                self._relation(kin, piece, speaker), piece, kin.end("subject"), kin.span("time"), speaker
            )
        named = self._words["introduced"].match(piece.folded)
        if named is not None:
            return self._introduced(named, speaker)
        own = self._words["self_subject"].match(piece.folded)
        if own is not None:
            if own.group("company"):
                blank = replace(
                    blank, subject=f"{speaker.name}{self._retold(piece.cut(*own.span('company')).said, speaker)}"
                )
            return self._predicate(blank, piece, own.end("subject"), own.span("time"), speaker)
        pronoun = self._words["pronoun_subject"].match(piece.folded)
        known = [one for one in people if one.relation]
        if pronoun is not None and known:
            return self._predicate(replace(known[-1], clause=piece.folded), piece, pronoun.end(), (0, 0), speaker)
        if pronoun is None and carried is not None:
            return self._predicate(replace(carried, clause=piece.folded), piece, 0, (0, 0), speaker)
        if self._words["dropped"].match(piece.folded):
            return self._predicate(blank, piece, 0, (0, 0), speaker)
        return self._bare(piece, speaker, "clause")

    def _relation(self, kin: re.Match[str], piece: _Piece, speaker: Speaker) -> Statement:
        noun, name = kin.group("kin"), kin.group("called") or ""
        key = self._relations.get(noun, noun)
        unique = bool(self._words["unique_relation"].fullmatch(noun)) or bool(name)
        start = kin.start("kin") if kin.start("adjective") < 0 else kin.start("adjective")
        described = piece.said[start : kin.end("subject")]
        return Statement(
            "relation", clause=piece.folded, predicate="", text="", subject=f"{speaker.name}的{described}",
            owner=f"{speaker.name}的{described}的", relation=f"{key}{name}", unique=unique,
        )  # fmt: skip

    def _introduced(self, named: re.Match[str], speaker: Speaker) -> Statement:
        """ "张静怡是我的母亲" makes her known to the clauses that follow."""
        noun = named.group("kin")
        subject = f"{speaker.name}的{named.group('adjective')}{noun}"
        return Statement(
            "relation", clause=named.group(), predicate=f"叫{named.group('name')}", text=f"{subject}是{named.group('name')}",
            subject=f"{subject}{named.group('name')}", owner=f"{subject}{named.group('name')}的",
            relation=self._relations.get(noun, noun), unique=bool(self._words["unique_relation"].fullmatch(noun)),
        )  # fmt: skip

    def _predicate(
        self, blank: Statement, piece: _Piece, start: int, time: tuple[int, int], speaker: Speaker
    ) -> Statement:
        """Adverbs and negation are set apart; what is left is the predicate that the rules match."""
        adverbs = self._words["adverb_run"].match(piece.folded, start)
        at = adverbs.end() if adverbs else start
        kept = self._words["filler"].sub("", piece.folded[start:at])
        for usual in self._words["too_often"].findall(kept):
            kept = kept.replace(usual, "经常")
        negation = self._words["negation"].match(piece.folded, at)
        predicate, negated = piece.folded[at:], False
        if negation is not None:
            negated = True
            has = (
                "有"
                if negation.group("has") and not self._words["after_have"].match(piece.folded, negation.end())
                else ""
            )
            predicate = has + piece.folded[negation.end() :]
        again = self._words["adverb_run"].match(predicate)
        inner = again.group() if again else ""
        predicate = predicate[len(inner) :]
        ended = negated and (predicate.endswith("了") or self._words["no_more"].search(piece.folded) is not None)
        when = piece.said[time[0] : time[1]] if time[0] >= 0 else ""
        text = f"{blank.subject}{when.strip(' ,')}{kept}{self._retold(piece.said[at:], speaker)}"
        return replace(
            blank, predicate=predicate.rstrip("了") or predicate, text=text.replace(" ,", ","), negated=negated, ended=ended,
            lead=f"{when}{piece.folded[start:at]}{inner}",
        )  # fmt: skip

    def _bare(self, piece: _Piece, speaker: Speaker, who: str) -> Statement:
        text = self._retold(piece.said, speaker)
        kind: Final = "order" if who == "order" else "clause"
        return Statement(kind, clause=piece.folded, predicate=piece.folded.rstrip("了") or piece.folded, text=text,
                         subject=speaker.name, owner=f"{speaker.name}的")  # fmt: skip

    def _retold(self, said: str, speaker: Speaker) -> str:
        """我 becomes the speaker, 你 the assistant."""
        said = self._words["our"].sub(f"{speaker.name}的", said)
        said = self._words["me"].sub(speaker.name, said)
        return self._words["you"].sub(speaker.assistant, said)
