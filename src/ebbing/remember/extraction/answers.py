"""Which question of the assistant a short message answers: "coeliac" says nothing without "Any dietary needs?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.remember.intake.screening import ScreenedMessage

LONGEST_ANSWER: Final = 60
"""Characters of a message that may need its question; a longer one is judged by itself."""
_LONGEST_QUESTION: Final = 160
"""Characters."""
_LAST_ASKED: Final = 400
"""Characters at the end of a message in which its question is looked for."""
_QUESTION: Final = re.compile(r"[^.!。！？?\n]+[?？]")
_MASK: Final = re.compile(r"\[[A-Z_]+[:\]]")


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


def _question_in(content: str) -> str:
    """Return the question at the end of what the assistant said; of several that stand together, all."""
    asking: list[str] = [question.strip() for question in _QUESTION.findall(content[-_LAST_ASKED:])]
    for question in (" ".join(asking), *asking[-1:]):
        is_plain = instruction_shaped(question) is None and _MASK.search(question) is None
        if 0 < len(question) <= _LONGEST_QUESTION and is_plain:
            return question
    return ""
