"""Sentences made whole, so that each says one thing by itself.

Notes in the third person become the speaker's own words, a list of different things becomes several sentences, and a
"there" becomes its place. A short answer takes up its question: "Do you have any pets?" and "Yes, two cats" say "I have
two cats".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ebbing.language.parsing.questions import (
    LAST_ASKED,
    Question,
    has_form,
    is_of_another,
    is_of_others_alone,
    others_in,
    the_question,
)
from ebbing.language.parsing.third_person import bare_verb
from ebbing.language.patterns.rule_pack import Pack, Reply
from ebbing.language.text.sentences import GAP, sentences
from ebbing.language.text.statement import Sentence

_NOTE: Final = {
    "en": re.compile(r"(?:The u|U|u)ser(?P<owns>'s)? (?=[a-z])"),
    "zh": re.compile(r"用户(?P<owns>的)?(?![名体群端们界反需量数]|[^,，]{0,6}(?:反馈|投诉|量|数|群|们))"),
}
"""How a note about the user begins that somebody else wrote."""
_FIRST_PERSON: Final = re.compile(r"\b(?:I|my|me|we|our)\b|[我咱]", re.IGNORECASE)
_BETWEEN: Final = re.compile(r",\s*(?:and\s+|plus\s+)?|\s+(?:and|plus|&)\s+")
_HEAD: Final = re.compile(r"(?:I am |I'm |im )?(?=\w)", re.IGNORECASE)
_SOMEBODY: Final = re.compile(r"(?i)(?:(?:and|but|so) )?(?:s?he|they)\b|[他她]")
_CORRECTS: Final = re.compile(r"(?i)(?:oh |ah )?(?:no|wait|sorry|actually|scratch that)\b|啊?不[是对]|等等|说错|打错")
_OF_TODAY: Final = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|this (?:time|weekend|evening|week))\b|[今明][天晚早儿夜]|这[次会]|这个?周末"
)
"""What is asked of one day says nothing of a life."""
_VOWEL: Final = re.compile(r"[aeiou]", re.IGNORECASE)


def as_first_person(spoken: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences of a note about the user, told by the user: "User likes jazz" says "I like jazz"."""
    find = _NOTE[pack.language]
    if not spoken or find.match(spoken[0].text) is None:
        return list(spoken)
    if any(_FIRST_PERSON.search(sentence.text) for sentence in spoken):
        return list(spoken)
    return [
        replace(sentence, text=_told_by_themselves(sentence.text, pack), literal=sentence.evidence)
        if find.match(sentence.text)
        else sentence
        for sentence in spoken
    ]


def _told_by_themselves(text: str, pack: Pack) -> str:
    match = _NOTE[pack.language].match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    if pack.language == "zh":
        return f"我的{rest}" if match["owns"] else f"我{rest}"
    return f"my {rest}" if match["owns"] else f"I {bare_verb(rest, pack.tables['bare'], third=True)}"


def with_lists_apart(spoken: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences, with a list of one's work, people and pets as one sentence each: "plumber, two kids, a beagle"."""
    if pack.language != "en":
        return list(spoken)
    return [part for sentence in spoken for part in _apart(sentence, pack)]


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


def placed(spoken: Sequence[Sentence], *, before: str, pack: Pack) -> list[Sentence]:
    """The sentences, with the place put for a "there" in which somebody lives or works."""
    if "there" not in pack.words or not any("there" in sentence.text for sentence in spoken):
        return list(spoken)
    whole: list[Sentence] = []
    context = before[-_LAST_SAID:]
    for sentence in spoken:
        reference = pack.words["there"].search(sentence.text)
        last = deque(
            pack.words["named_place"].finditer(f"{context} {sentence.text[: reference.start()]}" if reference else ""),
            1,
        )
        if reference is not None and last:
            text = f"{sentence.text[: reference.start('place')]}in {last[0]['name']}{sentence.text[reference.end() :]}"
            whole.append(replace(sentence, text=text, literal=sentence.evidence))
        else:
            whole.append(sentence)
        context = f"{context} {whole[-1].text}"
    return whole


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
_OPENER: Final = re.compile(
    r"(?i)^(?:honestly|actually|well|um+|hm+|oh|ok(?:ay)?)[, ]+(?=\w)|^(?:现在|目前|暂时)(?=[\u4e00-\u9fff])"
)
_NOT: Final = re.compile(r"(?i)not\b|不是")
"""What is not so fits into no sentence that says what is."""
_THANKS: Final = re.compile(r"(?i),? (?:please|pls|thanks|thank you|cheers)$")
_SLOT: Final = re.compile(r"\{(\w+)\}")


def with_its_own(spoken: list[Sentence], *, before: str) -> list[Sentence]:
    """The sentences, with "Mine are …" and 我的是… told of what the other party told of theirs."""
    theirs = _THEIRS.findall(before)
    if not theirs:
        return spoken
    thing = next(filter(None, theirs[-1]))
    return [
        replace(
            sentence,
            text=f"{put} {thing}{sentence.text[match.end() :]}".replace("的 ", "的"),
            literal=sentence.evidence,
        )
        if (match := _MINE.match(sentence.text)) and (put := "My" if sentence.text.isascii() else "我的")
        else sentence
        for sentence in spoken
    ]


def completed(spoken: list[Sentence], *, before: str, pack: Pack) -> list[Sentence]:
    """The sentences of an answer, with a first fragment made a full sentence by the one question before it.

    Nothing is made of an answer to two questions, nor of one that has not the form that its question asks for.
    """
    if not spoken or spoken[0].asks or len(spoken[0].text) > _LONGEST:
        return spoken
    question = the_question(before, pack)
    if question is not None and _may_be_completed(spoken, question, pack=pack):
        comma = _COMMA.search(spoken[0].text)
        parts = (spoken[0].text[: comma.start()], spoken[0].text[comma.start() :]) if comma else (spoken[0].text, "")
        for answer, rest in ((spoken[0].text, ""), parts):
            whole = _completed(question, answer, pack=pack)
            if whole:
                return [Sentence(f"{whole}{rest}", literal=spoken[0].evidence, answers=True), *spoken[1:]]
    return spoken[1:] if _is_a_fragment(spoken[0], before=before, pack=pack) else spoken


def _completed(question: Question, answer: str, *, pack: Pack) -> str | None:
    for reply, asks in pack.replies.found_in(question.text):
        match = asks.made.search(question.text)
        whole = _whole(reply, match, answer=answer, pack=pack) if match else None
        if match is None or not whole:
            continue
        named = " ".join(match.groupdict(default="").values())
        return None if is_of_another(question, whole, answer=answer, named=named, pack=pack) else whole
    return None


def _may_be_completed(spoken: Sequence[Sentence], question: Question, *, pack: Pack) -> bool:
    """Whether a first sentence has the form that its question asks for, and can tell of a life.

    "Codeine. He hallucinates on it" speaks of somebody whom neither the question nor the answer names. What is put
    right at once does not count.
    """
    if len(spoken) > 1 and _CORRECTS.match(spoken[1].text):
        return False
    if _OF_TODAY.search(question.text) or not has_form(spoken[0].text, question.text):
        return False
    is_named = bool(question.of_another or others_in(spoken[0].text, pack))
    return is_named or len(spoken) < 2 or _SOMEBODY.match(spoken[1].text) is None


def _is_a_fragment(answer: Sentence, *, before: str, pack: Pack) -> bool:
    """Whether a first sentence only answers what was not asked of the speaker alone: its subject is unknown."""
    asking = [sentence.text for sentence in sentences(before[-LAST_ASKED:]) if sentence.asks]
    if not asking or pack.words["own_words"].search(answer.text) or pack.words["whole_answer"].match(answer.text):
        return False
    about = pack.gates.get("of_another")
    if about is not None and about.search(asking[-1]) is not None:
        return True
    question = the_question(before, pack)
    if question is not None and is_of_others_alone(question, pack):
        return True
    return not has_form(answer.text, question.text if question else "")


def _whole(reply: Reply, match: re.Match[str], *, answer: str, pack: Pack) -> str | None:
    opening = pack.words["yes_no"].match(answer)
    says = (opening.lastgroup or "").rstrip("_") if opening else ""
    rest = _THANKS.sub("", answer[opening.end() :].strip(" ,.!") if opening else _OPENER.sub("", answer))
    wording: str | None
    if not rest or pack.words["echo"].fullmatch(rest):
        wording = {"yes": reply.yes, "no": reply.no}.get(says)
    elif says == "no" and reply.no and not reply.answer and not pack.words["whole_answer"].match(rest):
        wording = f"{reply.no}, {rest}"
    elif (
        says == "no"
        or _NOT.match(rest)
        or pack.words["whole_answer"].match(rest)
        or (reply.fits and not reply.fits.made.match(rest))
    ):
        wording = None
    else:
        wording = reply.answer
    if not wording:
        return None
    slots = {**match.groupdict(default=""), "answer": rest}
    return _SLOT.sub(lambda slot: slots.get(slot.group(1), ""), wording)
