"""Short answers made whole: "Do you have any pets?" and "Yes, two cats" say "I have two cats"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ebbing.language.clauses import sentences
from ebbing.language.rulebook import Pack, Reply
from ebbing.language.statement import Sentence

_LONGEST: Final = 80
"""Characters of an answer that is still a fragment."""


def completed(question: str, answer: list[Sentence], pack: Pack) -> list[Sentence]:
    """The sentences of an answer, with a first fragment made a full sentence by the question before it."""
    if not answer or not pack.replies or answer[0].asks or len(answer[0].text) > _LONGEST:
        return answer
    asked = [sentence.text for sentence in sentences(question[-1_000:]) if sentence.asks]
    for reply in pack.replies:
        for one in reversed(asked):
            found = reply.question.search(one)
            if found is not None:
                whole = _whole(reply, found.groupdict(), answer[0].text, pack)
                return [Sentence(whole), *answer[1:]] if whole else answer
    return answer


def _whole(reply: Reply, asked: Mapping[str, str | None], answer: str, pack: Pack) -> str | None:
    opening = pack.words["yes_no"].match(answer)
    says = (opening.lastgroup or "").rstrip("_") if opening else ""
    rest = answer[opening.end() :].strip(" ,.!") if opening else answer
    if not rest or pack.words["echo"].fullmatch(rest):
        wording = reply.yes if says == "yes" else reply.no if says == "no" else None
    elif pack.words["whole_answer"].match(rest):
        return None
    else:
        wording = reply.answer if says != "no" and (reply.fits is None or reply.fits.match(rest)) else None
    if wording is None:
        return None
    return re.sub(
        r"\{(\w+)\}", lambda slot: rest if slot.group(1) == "answer" else asked.get(slot.group(1)) or "", wording
    )
