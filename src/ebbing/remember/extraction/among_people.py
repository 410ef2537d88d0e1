"""What is kept of people who go by names: in a group much is chatter, a joke or said to somebody else.

Where nobody but the speaker has a name, one person talks with the assistant. Among several, a fact is told only where
it says who somebody is, in a clause that names its subject; a taste and a standing wish besides, where the assistant is
spoken to. Anything else stays a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType, Role
from ebbing.language.text.statement import Sentence, Statement

NAMES: Final = frozenset(
    {
        "name",
        "nickname",
        "小名",
        "昵称",
        "外号",
        "英文名",
        "网名",
        "笔名",
    }
)
"""Who goes by a name has told it: any other is a part in a game, or somebody else's."""
_PLURAL: Final = re.compile(r"(?i)\W*(?:(?:and|but|so) )*(?:we|our)\b|[^,，]{0,6}?(?:我们|咱们|俺们)")
"""What "we" are, or have, need not be so of the speaker."""
_TO_COME: Final = re.compile(
    r"(?i)\b(?:want|wanna|gonna|will|would|going to|hope|plan|planning|thinking of|could|might)\b"
    r"|想(?!不)|打算|准备|以后|将来|(?<![不只需必首重主紧])要(?![求是])"
)
"""What is wished or is to come says nothing of who somebody is."""
_OF_NOW: Final = re.compile(
    r"(?i)\b(?:now|today|tonight|tomorrow|this (?:week|month|morning))\b"
    r"|今[天晚早]|明天|这[几两]?[天周]|\d{4}年"
)
"""What somebody cannot have for the time being is no rule of theirs."""
_STANDING: Final = re.compile(
    r"(?i)\b(?:always|never|ever|from now on|in (?:the )?future|going forward|whenever|every time|any ?more)\b"
    r"|\b(?:me|your?)\b|以后|今后|往后|从今|从现在|永远|一律|统一|默认|每次|凡是|一直|总是?|老是"
    r"|[给回叫喊教替催]我|[跟和对][我俺](?:说|讲|聊|唠)|提醒我"
)
"""A wish that holds for more than this time, or for how the assistant treats the speaker."""


def addresses_assistant(messages: Sequence[Message], index: int, *, before: Message | None) -> bool:
    """Return whether somebody speaks to the assistant: it answers next or, where nobody does, spoke last.

    Where nobody else is known, it is alone with the speaker.
    """
    name = messages[index].name
    earlier = [*reversed(messages[:index]), *([before] if before is not None else [])]
    for message in (*messages[index + 1 :], *earlier):
        if message.role is not Role.USER or message.name != name:
            return message.role is Role.ASSISTANT
    return True


def is_kept_among_people(
    fact: Fact,
    statement: Statement,
    *,
    sentence: Sentence,
    message: Message,
    to_assistant: bool,
) -> bool:
    """Return whether a fact says who somebody is, plainly enough to be told of one of several people."""
    if statement.who == "order":
        return to_assistant and _STANDING.search(message.content) is not None
    is_part = sentence.answers or statement.carried or statement.implied is not None
    is_doubtful = not to_assistant and (fact.type is MemoryType.PREFERENCE or fact.understood)
    if not fact.lasts or is_part or is_doubtful or not _is_named_in(message, statement):
        return False
    return not (_is_for_now(fact, statement) or _PLURAL.match(statement.clause) or _TO_COME.search(statement.clause))


def _is_for_now(fact: Fact, statement: Statement) -> bool:
    """Return whether somebody cannot have a thing for the time being, or plays a part under another name."""
    if statement.relation is None and fact.attribute in NAMES:
        return True
    is_denied = fact.type is MemoryType.CONSTRAINT and (statement.negated or "不" in statement.predicate)
    return is_denied and _OF_NOW.search(fact.text) is not None


def _is_named_in(message: Message, statement: Statement) -> bool:
    """Return whether the message says for whom a pronoun stands."""
    if not statement.pronoun:
        return True
    return statement.relation is not None and statement.relation.split()[0] in message.content.lower()
