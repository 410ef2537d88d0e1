"""Orders to an assistant that do somebody harm, whoever gives them.

They advertise, send away what is private, keep dangers quiet, switch safety off, speak to others in the person's name,
or hand over control. A wish about how to be answered is none.
"""

from __future__ import annotations

from typing import Final

from ebbing.privacy.guarding.grammar import Grammar, grammar, sentences

_FILE: Final = "orders"


def harmful_order(text: str) -> str | None:
    """Why a text is an order that does harm, such as "promote" or "disable"; None if it is none.

    The reasons are those of `orders.toml`: `promote`, `exfiltrate`, `secrecy`, `disable`, `redirect`, `obey`, `act`.
    """
    order_grammar = grammar(_FILE)
    return (
        next(filter(None, (_reason(sentence, order_grammar) for sentence in sentences(text))), None)
        if order_grammar.may_stand_in(text)
        else None
    )


def _reason(sentence: str, order_grammar: Grammar) -> str | None:
    if any(pattern.search(sentence) for pattern in order_grammar.others["asked"]):
        return None
    return next((rule.more["reason"] for rule in order_grammar.rules if rule.found_in(sentence) is not None), None)
