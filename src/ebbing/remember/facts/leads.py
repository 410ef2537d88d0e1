"""What a message leans on: "she's here, in the spare bed" says nothing without "mom's after having a fall"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.text.detect_language import detect
from ebbing.language.text.pieces import pieces
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.remember.extraction.answers import PLACEHOLDER, SAME_TALK
from ebbing.remember.extraction.salient_words import names_somebody

LEAD_MESSAGES: Final = 4
"""Messages before one in which whom it only calls "she" may be named."""
_LEAST_CHARS, _MOST_CHARS = 4, 160
"""Of a lead."""
_SPOKEN: Final = frozenset({Role.USER, Role.ASSISTANT})
_SOMEBODY: Final = {
    "en": re.compile(
        r"(?i)\b(?:a|an|the|my|our|his|her|me) (?:\w+ ){0,2}(?:friend|boss|landlord|landlady|man|fella|guy|woman|lady"
        r"|girl|boy|kid|baby|lad|neighbou?r|teacher|doctor|nurse|lodger|tenant|colleague|cat|dog|puppy|kitten|horse)\b"
    ),
    "zh": re.compile(
        r"朋友|同事|同学|闺蜜|房东|租客|邻居|老板|领导|老师|师傅|徒弟|医生|护士|男的|女的|猫|狗|[\u4e00-\u9fff](?:姐|哥|叔|姨|嬢|婶|伯)"
        r"|(?<![\u4e00-\u9fff])[老小阿](?![家是实早时心吃区说事伙孩])[\u4e00-\u9fff]"
    ),
}
"""Somebody who has no name there, and is no relative."""


def lead_before(message: Message, talk: Sequence[Message]) -> str:
    """Return the last sentence before a message that speaks of somebody; "" where none does.

    Args:
        message: one of the talk of which it is open whom it tells.
        talk: what was said before it, oldest first; what is held for review is not there.
    """
    for earlier in reversed(talk[-LEAD_MESSAGES:]):
        is_anothers = earlier.role is Role.USER and earlier.name != message.name
        if is_anothers or earlier.role not in _SPOKEN or not _is_of_this_talk(earlier, message=message):
            return ""
        for piece in reversed(pieces(earlier.content)):
            if _speaks_of_somebody(lead := piece.strip(), besides=message.name or ""):
                return lead
    return ""


def _is_of_this_talk(earlier: Message, *, message: Message) -> bool:
    if earlier.timestamp is None or message.timestamp is None:
        return True
    return timedelta() <= message.timestamp - earlier.timestamp <= SAME_TALK


def _speaks_of_somebody(text: str, *, besides: str) -> bool:
    if not _LEAST_CHARS <= len(text) <= _MOST_CHARS or PLACEHOLDER.search(text) or instruction_shaped(text) is not None:
        return False
    language, others = "zh" if detect(text) == "zh" else "en", text.replace(besides, "") if besides else text
    return names_somebody(others, language) or _SOMEBODY[language].search(others) is not None
