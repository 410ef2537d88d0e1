"""Where "there" is: the place that was named last, in the sentences before or in what the other party said."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.statement import Sentence

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
