"""Short answers made whole: "Do you have any pets?" and "Yes, two cats" say "I have two cats"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ebbing.language.patterns.rule_pack import Pack, Reply
from ebbing.language.text.sentences import GAP, sentences
from ebbing.language.text.statement import Sentence
from ebbing.remember.extraction.questions import LAST_ASKED, Question, has_form, is_of_another, the_question

_LONGEST: Final = 80
"""Characters of an answer that is still a fragment."""
_COMMA: Final = re.compile(rf"(?<=.)[,;]|{GAP.pattern}")
"""Ends the part of an answer that may fit the question where the whole does not."""
_THEIRS: Final = re.compile(
    r"\b(?i:my|me) (?P<en>(?:(?!(?:is|are)\b)[\w-]+ ){0,3}(?!(?:is|are)\b)[\w-]+)(?= (?:is|are) )"
    r"|我的?(?P<zh>最?[^,，。是的]{1,6}的[^,，。是]{1,6})(?=是)"
)
"""What the other party tells of theirs: "my favourite movies are …"."""
_MINE: Final = re.compile(r"(?i)(?P<mine>mine)(?= (?:is|are) )|(?P<mine_zh>我的)(?=是)")
_THANKS: Final = re.compile(r"(?i),? (?:please|pls|thanks|thank you|cheers)$")
_SLOT: Final = re.compile(r"\{(\w+)\}")


def with_its_own(said: list[Sentence], *, asked: str) -> list[Sentence]:
    """The sentences, with "Mine are …" and 我的是… told of what the other party told of theirs."""
    theirs = _THEIRS.findall(asked)
    if not theirs:
        return said
    thing = next(filter(None, theirs[-1]))
    return [
        replace(one, text=f"{put} {thing}{one.text[found.end() :]}".replace("的 ", "的"), literal=one.evidence)
        if (found := _MINE.match(one.text)) and (put := "My" if one.text.isascii() else "我的")
        else one
        for one in said
    ]


def completed(said: list[Sentence], *, asked: str, pack: Pack) -> list[Sentence]:
    """The sentences of an answer, with a first fragment made a full sentence by the one question before it.

    Nothing is made of an answer to two questions, nor of one that has not the form that its question asks for.
    """
    if not said or said[0].asks or len(said[0].text) > _LONGEST:
        return said
    question = the_question(asked, pack)
    if question is not None and has_form(said[0].text, question.text):
        comma = _COMMA.search(said[0].text)
        parts = (said[0].text[: comma.start()], said[0].text[comma.start() :]) if comma else (said[0].text, "")
        for answer, rest in ((said[0].text, ""), parts):
            whole = _completed(question, answer, pack=pack)
            if whole:
                return [Sentence(f"{whole}{rest}", literal=said[0].evidence, answers=True), *said[1:]]
    return said[1:] if _is_a_fragment(said[0], asked=asked, pack=pack) else said


def _completed(question: Question, answer: str, *, pack: Pack) -> str | None:
    for reply, asks in pack.replies.found_in(question.text):
        found = asks.made.search(question.text)
        whole = _whole(reply, found, answer=answer, pack=pack) if found else None
        if found is None or not whole:
            continue
        named = " ".join(found.groupdict(default="").values())
        return None if is_of_another(question, whole, named=named, pack=pack) else whole
    return None


def _is_a_fragment(said: Sentence, *, asked: str, pack: Pack) -> bool:
    """Whether a first sentence only answers what was not asked of the speaker alone: its subject is unknown."""
    asking = [sentence.text for sentence in sentences(asked[-LAST_ASKED:]) if sentence.asks]
    if not asking or pack.words["own_words"].search(said.text) or pack.words["whole_answer"].match(said.text):
        return False
    about = pack.gates.get("of_another")
    if about is not None and about.search(asking[-1]) is not None:
        return True
    question = the_question(asked, pack)
    return not has_form(said.text, question.text if question else "")


def _whole(reply: Reply, asked: re.Match[str], *, answer: str, pack: Pack) -> str | None:
    opening = pack.words["yes_no"].match(answer)
    says = (opening.lastgroup or "").rstrip("_") if opening else ""
    rest = _THANKS.sub("", answer[opening.end() :].strip(" ,.!") if opening else answer)
    wording: str | None
    if not rest or pack.words["echo"].fullmatch(rest):
        wording = {"yes": reply.yes, "no": reply.no}.get(says)
    elif says == "no" and reply.no and not reply.answer and not pack.words["whole_answer"].match(rest):
        wording = f"{reply.no}, {rest}"
    elif says == "no" or pack.words["whole_answer"].match(rest) or (reply.fits and not reply.fits.made.match(rest)):
        wording = None
    else:
        wording = reply.answer
    if not wording:
        return None
    slots = {**asked.groupdict(default=""), "answer": rest}
    return _SLOT.sub(lambda slot: slots.get(slot.group(1), ""), wording)
