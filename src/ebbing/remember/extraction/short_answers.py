"""Short answers made whole: "Do you have any pets?" and "Yes, two cats" say "I have two cats"."""

from __future__ import annotations

import re
from typing import Final

from ebbing.language.patterns.rule_pack import Pack, Reply
from ebbing.language.text.sentences import GAP, sentences
from ebbing.language.text.statement import Sentence

_LONGEST: Final = 80
"""Characters of an answer that is still a fragment."""
_LAST_ASKED: Final = 1_000
"""Characters at the end of a message in which its question is looked for."""
_COMMA: Final = re.compile(rf"(?<=.)[,;]|{GAP.pattern}")
"""Ends the part of an answer that may fit the question where the whole does not."""
_SHORT_IS: Final = re.compile(r"(?i)(?<=what|when)'s\b|(?<=who|how)'s\b|(?<=where)'s\b")
"""What a question in English shortens."""
_THANKS: Final = re.compile(r"(?i),? (?:please|pls|thanks|thank you|cheers)$")
_SLOT: Final = re.compile(r"\{(\w+)\}")


def completed(said: list[Sentence], *, asked: str, pack: Pack) -> list[Sentence]:
    """The sentences of an answer, with a first fragment made a full sentence by the question before it."""
    if not said or said[0].asks or len(said[0].text) > _LONGEST:
        return said
    heard = [sentence.text for sentence in sentences(asked[-_LAST_ASKED:]) if sentence.asks]
    questions = [_SHORT_IS.sub(" is", question) for question in heard]
    for question in reversed(questions):
        for reply, asks in pack.replies.found_in(question):
            found = asks.made.search(question)
            if found is None:
                continue
            comma = _COMMA.search(said[0].text)
            parts = (said[0].text[: comma.start()], said[0].text[comma.start() :]) if comma else (said[0].text, "")
            for answer, rest in ((said[0].text, ""), parts):
                whole = _whole(reply, found, answer=answer, pack=pack)
                if whole:
                    return [Sentence(f"{whole}{rest}"), *said[1:]]
    return said[1:] if _is_of_another(said[0], questions, pack=pack) else said


def _is_of_another(said: Sentence, questions: list[str], *, pack: Pack) -> bool:
    """Whether a fragment answers a question about somebody else, so that its subject is not the speaker."""
    about = pack.gates.get("of_another")
    if about is None or not questions or about.search(questions[-1]) is None:
        return False
    return pack.words["own_words"].search(said.text) is None and pack.words["whole_answer"].match(said.text) is None


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
