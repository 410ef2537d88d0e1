"""What a Chinese statement says has taken a turn: moved to another time, come to another sum, gone.

The patterns of `changes` name the words in which this is said; here the thing is found that it is said of, whatever
stands between: "电钢挂闲鱼上卖掉了" says it of 电钢. It is compared by pairs of adjacent characters.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.domain.conflict.claim import End, Words
from ebbing.language.claims.change_patterns import changes

_RUN: Final = re.compile(r"[\u4e00-\u9fff]+")
_MAY_DAY: Final = re.compile("[五5]一")
"""Its characters are figures, and no part of a word elsewhere."""
_SHORTEST: Final = 2


def pairs_of(text: str) -> Words:
    """Adjacent Chinese characters that may be a word, or stand in one."""
    empty = changes().turn_empty
    runs = (run.group() for run in _RUN.finditer(_MAY_DAY.sub("劳动", text)))
    pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return frozenset(pair for pair in pairs if pair[0] not in empty and pair[1] not in empty)


def is_timed(text: str, language: str) -> bool:
    """Whether a text says when."""
    return changes().otherwise["when"][language].search(text) is not None


def turned(text: str) -> tuple[End, ...]:
    """The ends that the turns in a statement make; `text` is normal and simplified, its numbers are figures."""
    found: list[End] = []
    for turn in changes().turns:
        match = turn.pattern.search(text)
        if match is None:
            continue
        topics = pairs_of(_bare(match["topic"]))
        if turn.last and len(topics) > 1:
            topics &= pairs_of(_bare(match["topic"])[-_SHORTEST:])
        if topics:
            found.append(End(topics=topics, needs=turn.needs))
    return tuple(found)


def _bare(topic: str) -> str:
    return changes().turn_aside.sub(" ", topic).strip()
