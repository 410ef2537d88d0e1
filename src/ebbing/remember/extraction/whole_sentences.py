"""Sentences put so that each holds one thing: notes in the third person, and lists of different kinds of things."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ebbing.language.parsing.third_person import bare_verb
from ebbing.language.patterns.rule_pack import Pack, Reply
from ebbing.language.text.sentences import GAP, sentences
from ebbing.language.text.statement import Sentence
from ebbing.remember.extraction.questions import LAST_ASKED, Question, has_form, is_of_another, the_question

_NOTE: Final = {
    "en": re.compile(r"(?:The u|U|u)ser(?P<owns>'s)? (?=[a-z])"),
    "zh": re.compile(r"用户(?P<owns>的)?(?![名体群端们界反需量数]|[^,，]{0,6}(?:反馈|投诉|量|数|群|们))"),
}
"""How a note about the user begins that somebody else wrote."""
_FIRST_PERSON: Final = re.compile(r"\b(?:I|my|me|we|our)\b|[我咱]", re.IGNORECASE)
_BETWEEN: Final = re.compile(r",\s*(?:and\s+|plus\s+)?|\s+(?:and|plus|&)\s+")
_HEAD: Final = re.compile(r"(?:I am |I'm |im )?(?=\w)", re.IGNORECASE)
_VOWEL: Final = re.compile(r"[aeiou]", re.IGNORECASE)


def as_first_person(said: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences of a note about the user, told by the user: "User likes jazz" says "I like jazz"."""
    find = _NOTE[pack.language]
    if not said or any(_FIRST_PERSON.search(one.text) or find.match(one.text) is None for one in said):
        return list(said)
    return [replace(one, text=_told_by_themselves(one.text, pack), literal=one.evidence) for one in said]


def _told_by_themselves(text: str, pack: Pack) -> str:
    found = _NOTE[pack.language].match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    if pack.language == "zh":
        return f"我的{rest}" if found["owns"] else f"我{rest}"
    return f"my {rest}" if found["owns"] else f"I {bare_verb(rest, pack.tables['bare'], third=True)}"


def with_lists_apart(said: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences, with a list of one's work, people and pets as one sentence each: "plumber, two kids, a beagle"."""
    if pack.language != "en":
        return list(said)
    return [part for sentence in said for part in _apart(sentence, pack)]


def _apart(sentence: Sentence, pack: Pack) -> list[Sentence]:
    head = _HEAD.match(sentence.text)
    items = _BETWEEN.split(sentence.text[head.end() if head else 0 :].strip(" ."))
    role, possession = _kinds(
        pack.words["role_noun"].pattern, pack.words["family"].pattern, pet=pack.words["pet"].pattern
    )
    kinds = ["am" if role.fullmatch(item) else "have" if possession.fullmatch(item) else "" for item in items]
    if len(items) < 2 or "" in kinds or len(set(kinds)) < 2 or kinds[0] != "am" or sentence.asks:
        return [sentence]
    literal = sentence.evidence
    return [
        Sentence(f"I {kind} {_with_article(item) if kind == 'am' else item}", literal=literal)
        for kind, item in zip(kinds, items, strict=True)
    ]


def _with_article(role: str) -> str:
    if re.match(r"(?:an?|the) ", role, re.IGNORECASE):
        return role
    return f"{'an' if _VOWEL.match(role) else 'a'} {role}"


@lru_cache(maxsize=8)
def _kinds(role: str, family: str, *, pet: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is a role, and what is one of the family or a pet that somebody has."""
    count = r"(?:an?|one|two|three|four|five|six|\d{1,2})"
    return (
        re.compile(rf"(?:an? )?(?:[\w-]+ ){{0,2}}{role}s?", re.IGNORECASE),
        re.compile(rf"{count} (?:[\w-]+ ){{0,2}}(?:{family}|{pet})(?: (?:named|called) \w+)?", re.IGNORECASE),
    )


_LAST_SAID: Final = 400
"""Characters at the end of the message before in which a place is looked for."""


def placed(said: Sequence[Sentence], *, before: str, pack: Pack) -> list[Sentence]:
    """The sentences, with the place put for a "there" in which somebody lives or works."""
    if "there" not in pack.words or not any("there" in sentence.text for sentence in said):
        return list(said)
    found: list[Sentence] = []
    around = before[-_LAST_SAID:]
    for sentence in said:
        there = pack.words["there"].search(sentence.text)
        last = deque(
            pack.words["named_place"].finditer(f"{around} {sentence.text[: there.start()]}" if there else ""), 1
        )
        if there is not None and last:
            text = f"{sentence.text[: there.start('place')]}in {last[0]['name']}{sentence.text[there.end() :]}"
            found.append(replace(sentence, text=text, literal=sentence.evidence))
        else:
            found.append(sentence)
        around = f"{around} {found[-1].text}"
    return found


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
