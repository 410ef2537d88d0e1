"""Which question of the assistant a short message answers: "coeliac" says nothing without "Any dietary needs?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from ebbing.domain.memory.record import Role
from ebbing.language.parsing.questions import ADDRESSED, others_in
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.signals.talk_signs import shows
from ebbing.language.text.detect_language import detect
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.remember.intake.screening import ScreenedMessage

SAME_TALK: Final = timedelta(hours=1)
"""What is said later does not answer the assistant's last question any more, nor belong to a game."""
FORM_MESSAGES: Final = 4
"""Messages before a question to nobody that may say for whom a form is filled in."""
LONGEST_ANSWER: Final = 60
"""Characters of a message that may need its question; a longer one is judged by itself."""
_MAX_ADDITION: Final = {True: 24, False: 12}
"""Characters, in ASCII and otherwise, up to which "also peanuts" adds to an answer."""
_LONGEST_QUESTION: Final = 160
"""Characters."""
_LAST_ASKED: Final = 400
"""Characters at the end of a message in which its question is looked for."""
_QUESTION: Final = re.compile(r"[^.!。！？?\n]+[?？]")
_DRAFT: Final = re.compile(r'(?:^|(?<=\s))[“"「『](?=[^“”"「」『』]*[?？])[^“”"「」『』]{20,}[”"」』](?=\W*$)')
"""What it wrote for somebody: a question in it is not put to the one who reads it."""
PLACEHOLDER: Final = re.compile(r"\[(?:REDACTED_[A-Z_]+|[A-Z_]+:[a-p]+)\]")


def question_before(screened: Sequence[ScreenedMessage], source: int, *, question_message: str = "") -> str:
    """Return what the assistant asked right before a short message, on one line; "" where it asked nothing.

    Args:
        source: place of the message.
        question_message: what the assistant said right before the first message, in an earlier call.
    """
    if len(screened[source].message.content) > LONGEST_ANSWER:
        return ""
    if source == 0:
        return _question_in(question_message)
    before = screened[source - 1]
    is_the_assistants = before.message.role is Role.ASSISTANT and before.held_back is None
    return _question_in(before.message.content) if is_the_assistants else ""


def answered_question(screened: Sequence[ScreenedMessage], source: int, *, question_message: str = "") -> str:
    """Return the question that a short message answers; "" where it answers none: "btw, choir has moved".

    Args:
        source: place of the message.
        question_message: what the assistant said right before the first message, in an earlier call.
    """
    question = question_before(screened, source, question_message=question_message)
    content = screened[source].message.content
    if len(content) <= _MAX_ADDITION[content.isascii()] or not shows("new_topic", content):
        return question
    return question if shows("asks_for_more", question) or shows("grave", question) else ""


def is_for_another(question: str, before: Sequence[str]) -> bool:
    """Return whether a question to nobody ("date of birth?") may be about somebody of whom was spoken before.

    Args:
        before: what was said before it, oldest first.
    """
    if any(addressed.search(question) is not None for addressed in ADDRESSED.values()):
        return False
    packs = Packs.load().by_language
    return any(others_in(text, packs["zh" if detect(text) == "zh" else "en"]) for text in before[-FORM_MESSAGES:])


def _question_in(content: str) -> str:
    """Return the question at the end of what the assistant said; of several that stand together, all."""
    own_words = _DRAFT.sub(" ", content)[-_LAST_ASKED:]
    asking: list[str] = [question.strip() for question in _QUESTION.findall(own_words)]
    for question in (" ".join(asking), *asking[-1:]):
        is_plain = instruction_shaped(question) is None and PLACEHOLDER.search(question) is None
        if 0 < len(question) <= _LONGEST_QUESTION and is_plain:
            return question
    return ""
