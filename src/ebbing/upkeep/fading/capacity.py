"""When an owner's texts take more room than there is: what is shortened, and what of it stays.

First the least valuable records lose their function words, one after the other. Where that is not enough, all of them
are taken apart into sentences and clauses, and the pieces that are worth most for their bytes stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final

import numpy as np

from ebbing.domain.forgetting.stages import times_said
from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.index.shard import Shard
from ebbing.language.text.text_units import units
from ebbing.language.wording.shorten import joined, joint_size, kernel, says_something, telegraphic
from ebbing.upkeep.fading.text_value import Numbers, Vocabulary, log_odds, row_values

RETENTION: Final = 0.25
"""Weight of ln(retention): what is asked for is as likely old as new."""
KERNEL_FROM: Final = 60
"""Bytes of a shortened piece from which its rarest words alone are an alternative to the whole."""
KERNEL_SHARE: Final = 0.6
"""Share of what a piece is worth that its rarest half is worth."""
PROTECTED: Final = 3.0
"""Log-odds that what is known of a person is ahead of what was merely said, however often."""
ASSISTANT: Final = -1.0
"""Log-odds of what an assistant said: people come back to their own words. Recall weighs it by a third as well."""
LEAD: Final = 0.5
"""Log-odds that the piece of a record which is likeliest to be needed is ahead: without any the record is lost."""
LEAD_FALLS: Final = 0.6
"""Each further piece has so much of the lead of the one before."""
_PADDING: Final = 6
"""Bytes added to each piece when worth is held against size, so that a single word is no bargain."""


@dataclass(frozen=True, slots=True)
class CapacityItem:
    """A record that may be shortened."""

    record: MemoryRecord
    row: int
    """Of the shard."""
    importance: float
    remembered: float
    """Retention, in [0, 1]."""
    is_protected: bool
    answers: bool
    """It follows a question of somebody else."""
    text: str
    """What is to be read of it so far."""
    whole: str
    """All that it said."""

    @property
    def standing(self) -> float:
        """What speaks for the record as a whole, in log-odds: retention, uses, repetition, what it is known to be."""
        record = self.record
        return (
            RETENTION * log(max(self.remembered, 1e-6))
            + 1.5 * min(record.access_count, 2)
            + 0.5 * log(times_said(record))
            + (PROTECTED if self.is_protected and record.kind is Kind.MEMORY else 0.0)
            + (ASSISTANT if record.role is Role.ASSISTANT else 0.0)
        )


def shortened(shard: Shard, lodgers: Sequence[CapacityItem], *, over: int) -> dict[int, str]:
    """Texts by the place of their lodger, for those that change, which are `over` bytes shorter in all if possible.

    An empty text means that nothing of the record stays.
    """
    changed, saved = _without_filler(lodgers, over=over)
    if saved >= over:
        return changed
    room = sum(_size(item.text) for item in lodgers) - over
    chosen = _TextPieces.of(shard, lodgers).chosen(room)
    fitted = {place: chosen.get(place, "") for place in range(len(lodgers))}
    return {place: text for place, text in fitted.items() if text != lodgers[place].text}


def brief(text: str) -> str:
    """A whole text without function words, and without the sentences that say nothing."""
    return joined([telegraphic(unit.text) for unit in units(text) if says_something(unit.text)])


def _without_filler(lodgers: Sequence[CapacityItem], *, over: int) -> tuple[dict[int, str], int]:
    """Shortens what still is whole, one after the other, the least valuable first, until enough is saved."""
    changed: dict[int, str] = {}
    saved = 0
    whole = [place for place, item in enumerate(lodgers) if item.text == item.whole]
    for place in sorted(whole, key=lambda at: lodgers[at].standing + 3 * lodgers[at].importance):
        if saved >= over:
            break
        text = lodgers[place].text
        short = brief(text)
        if _size(short) < _size(text):
            changed[place] = short
            saved += _size(text) - _size(short)
    return changed, saved


@dataclass(frozen=True, slots=True)
class _Choice:
    """A piece, or its kernel, or what the piece has beyond its kernel."""

    value: float
    piece: int
    size: int
    is_whole: bool
    needs_kernel: bool


@dataclass(slots=True)
class _TextPieces:
    """The pieces of all lodgers."""

    lodger: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    shorts: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    worth: Numbers = field(default_factory=lambda: np.zeros(0))
    """Log of the probability to be needed, with what speaks for the record."""
    lead: Numbers = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, shard: Shard, lodgers: Sequence[CapacityItem]) -> _TextPieces:
        """Takes every text apart and says what each piece is worth."""
        pieces, pasted = cls(), []
        for place, lodger in enumerate(lodgers):
            for unit in units(lodger.whole):
                short = telegraphic(unit.text)
                if short:
                    pieces.lodger.append(place)
                    pieces.texts.append(unit.text)
                    pieces.shorts.append(short)
                    pasted.append(unit.is_pasted)
        words = Vocabulary([lodger.whole for lodger in lodgers])
        pieces.kernels = [
            kernel(short, words.rarity) if _size(short) >= KERNEL_FROM else short for short in pieces.shorts
        ]
        rows = np.array([lodgers[place].row for place in pieces.lodger], dtype=np.int64)
        odds = log_odds(
            row_values(shard),
            pieces.texts,
            shorts=pieces.shorts,
            rows=rows,
            words=words,
            pasted=np.array(pasted, dtype=np.bool_),
        )
        likely = -np.logaddexp(0.0, -odds)
        pieces.lead = pieces._leads(odds)
        pieces.worth = likely + np.array([lodgers[place].standing for place in pieces.lodger])
        return pieces

    def chosen(self, room: int) -> dict[int, str]:
        """The text of every lodger, made of the pieces that are worth most for their bytes."""
        level = np.zeros(len(self.texts), dtype=np.int8)
        begun: set[int] = set()
        for choice in sorted(self._choices(), key=lambda item: -item.value):
            if choice.needs_kernel and not level[choice.piece]:
                continue
            lodger = self.lodger[choice.piece]
            size = choice.size + (joint_size(self.shorts[choice.piece]) if lodger in begun else 0)
            if size <= room:
                room -= size
                begun.add(lodger)
                level[choice.piece] = 2 if choice.is_whole else 1
        parts: defaultdict[int, list[str]] = defaultdict(list)
        for piece, lodger in enumerate(self.lodger):
            if level[piece]:
                parts[lodger].append(self.shorts[piece] if level[piece] == 2 else self.kernels[piece])
        return {lodger: joined(parts[lodger]) for lodger in dict.fromkeys(self.lodger)}

    def _choices(self) -> Iterator[_Choice]:
        for piece, short in enumerate(self.shorts):
            whole, part = _size(short), _size(self.kernels[piece])
            ahead = self.worth[piece] + self.lead[piece]
            if part > 0.8 * whole:
                yield _Choice(ahead - log(whole + _PADDING), piece, whole, is_whole=True, needs_kernel=False)
                continue
            first = ahead + log(KERNEL_SHARE) - log(part + _PADDING)
            yield _Choice(first, piece, part, is_whole=False, needs_kernel=False)
            rest = self.worth[piece] + log(1 - KERNEL_SHARE) - log(whole - part + 1)
            yield _Choice(min(rest, first), piece, whole - part, is_whole=True, needs_kernel=True)

    def _leads(self, odds: Numbers) -> Numbers:
        """Log-odds that the likeliest pieces of each record which say something are ahead.

        Not the first ones: what matters is often told behind a greeting or in the middle of small talk.
        """
        lead, nth = np.zeros(len(self.texts)), defaultdict[int, int](int)
        for piece in np.argsort(-odds, kind="stable").tolist():
            if says_something(self.texts[piece]):
                lodger = self.lodger[piece]
                lead[piece] = LEAD * LEAD_FALLS ** nth[lodger]
                nth[lodger] += 1
        return lead


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
