"""Builds `needs.txt` in `src/ebbing/language/packs`: what each pattern of the packs cannot do without.

    python scripts/build_needs.py

Run it after a change of patterns: one whose line is missing is asked about every text, which is right and slow.
Each line names a pattern (`prefilter.name_of`) and pieces of which one stands, in small letters, in whatever it is
found in, those of each size apart. Of several choices the rarest pieces are taken, by the texts of the evals.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.claims.change_patterns import changes
from ebbing.language.patterns.prefilter import SIZES, Sieve, name_of
from ebbing.language.patterns.rule_pack import LANGUAGES, Packs
from ebbing.remember.extraction.rule_extractor import extract
from evals.extraction import HELD, items

HEAD: Final = "# Made by scripts/build_needs.py: run it after a change of patterns.\n"
_NOW: Final = datetime(2026, 5, 6, 10, tzinfo=UTC)
_MOST: Final = 64
"""Wordings of a stretch of a pattern that are told apart."""
_USUAL: Final = 1.0
"""Pieces of which a text holds so many on average keep no pattern from being asked."""

Wordings = frozenset[str]


class _Read(NamedTuple):
    """A part of a pattern."""

    all: Wordings | None = None
    """All that it can be found as, if these are few."""
    needs: Wordings | None = None
    """Else pieces of which one stands in whatever it is found in, if any are known."""


_NOTHING: Final = frozenset({""})
_ANYTHING: Final = _Read()


class Needs:
    """Reads what patterns need, as pieces of given sizes. `share` is how often a piece stands in a text."""

    def __init__(self, sizes: Sequence[int], share: Callable[[str], float]) -> None:
        self._sizes = sizes
        self._share = share

    def of(self, pattern: str) -> Wordings | None:
        """Pieces in small letters of which one stands in each text, put into small letters, in which it is found.

        None where none are known. It does not hold for a text with letters that a caseless pattern takes for another
        one than they are in small letters (see `language.patterns.prefilter`).
        """
        return self._needs(self._sequence(parser.parse(pattern, re.IGNORECASE)))

    def _needs(self, read: _Read) -> Wordings | None:
        return read.needs if read.all is None else self._of_all(read.all)

    def _sequence(self, parts: Iterable[tuple[Any, Any]]) -> _Read:
        """Components that follow each other: all of them are needed, so the best needs of any of them will do."""
        stretch = _NOTHING
        found: list[Wordings | None] = []
        whole = True
        for kind, given in parts:
            part = self._read(kind, given)
            if part.all is not None and len(stretch) * len(part.all) <= _MOST:
                stretch = frozenset([before + after for before in stretch for after in part.all])
                continue
            whole = False
            found += (part.needs, self._of_all(stretch))
            stretch = part.all or _NOTHING
        return _Read(stretch) if whole else _Read(None, self._best([*found, self._of_all(stretch)]))

    def _read(self, kind: Any, given: Any) -> _Read:
        if kind is op.LITERAL:
            return _character(given)
        if kind is op.IN:
            return _class(given)
        if kind is op.BRANCH:
            return self._either([self._sequence(branch) for branch in given[1]])
        if kind is op.SUBPATTERN:
            return self._sequence(given[-1])
        if kind is op.ATOMIC_GROUP:
            return self._sequence(given)
        if kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}:
            least, most, part = given
            return self._repeated(self._sequence(part), least, once=most == 1)
        return _Read(_NOTHING) if kind in {op.AT, op.ASSERT, op.ASSERT_NOT} else _ANYTHING

    def _either(self, parts: Sequence[_Read]) -> _Read:
        every = [part.all for part in parts if part.all is not None]
        whole = frozenset().union(*every)
        if len(every) == len(parts) and len(whole) <= _MOST:
            return _Read(whole)
        known = list(filter(None, map(self._needs, parts)))
        return _Read(None, frozenset().union(*known)) if len(known) == len(parts) else _ANYTHING

    def _repeated(self, read: _Read, least: int, *, once: bool) -> _Read:
        if once:
            return read if least else _Read(read.all and read.all | _NOTHING)
        return _Read(None, self._needs(read)) if least else _ANYTHING

    def _of_all(self, wordings: Wordings) -> Wordings | None:
        """For each wording its rarest piece; None where one has no piece."""
        pieces = [self._rarest(wording) for wording in wordings]
        return None if None in pieces else frozenset(filter(None, pieces))

    def _rarest(self, text: str) -> str | None:
        every = (text[at : at + size] for size in self._sizes for at in range(len(text) - size + 1))
        known = ((self._share(piece), piece) for piece in every if not {"\n", "\t"} & {*piece})
        return min(known, default=(0.0, None))[1]

    def _best(self, found: Iterable[Wordings | None]) -> Wordings | None:
        """Those that the fewest texts hold, unless even these stand in most."""
        rated = [(sum(map(self._share, item)), place, item) for place, item in enumerate(found) if item is not None]
        rating, _, best = min(rated, default=(math.inf, 0, None))
        return best if rating <= _USUAL else None


def _character(code: int) -> _Read:
    """A letter that is no other one in either case: of the Latin script without accents, or of one without case."""
    letter = chr(code)
    small = letter.lower()
    return _Read(frozenset({small})) if letter.isascii() or small == letter.upper() else _ANYTHING


def _class(members: Sequence[tuple[Any, Any]]) -> _Read:
    codes: list[int] = []
    for kind, given in members:
        if kind is op.LITERAL:
            codes.append(given)
        elif kind is op.RANGE and given[1] - given[0] < _MOST:
            codes += range(given[0], given[1] + 1)
        else:
            return _ANYTHING
    letters = [read.all for read in map(_character, codes) if read.all is not None]
    return _Read(frozenset().union(*letters)) if len(letters) == len(codes) <= _MOST else _ANYTHING


def sieves() -> Iterator[tuple[str, Sieve[Any]]]:
    """The sieves of the shipped packs, with their language."""
    for language, pack in Packs.load().by_language.items():
        of_pack = (*pack.rules.values(), *pack.rewrites.values(), pack.replies)
        yield from ((language, item) for item in of_pack)
    for language in LANGUAGES:
        read = changes()
        yield from ((language, item) for item in (read.reads[language], read.endings[language]))


def shipped() -> dict[str, set[str]]:
    """The patterns of the shipped packs that are sorted by what they need, by language."""
    found: dict[str, set[str]] = {language: set() for language in LANGUAGES}
    for language, sieve in sieves():
        found[language].update(pattern.text for _, pattern in sieve.pairs)
    return found


def _share(language: str) -> Callable[[str], float]:
    """The share of texts that hold a piece, of messages or of the facts that they hold, whichever is larger."""
    told = [
        [Message(one["content"], role=Role(one["role"])) for one in item["messages"]]
        for part, item in items("extraction", language)
        if part != HELD
    ]
    said = _stands([message.content for messages in told for message in messages], language)
    facts = _stands([fact.text for messages in told for fact in extract(messages, now=_NOW)], language)
    # In powers of two, so that a few texts more change few lines.
    return lambda piece: 2.0 ** round(math.log2(max(said[piece], facts[piece], 1e-4 / len(piece))))


def _stands(texts: Sequence[str], language: str) -> Counter[str]:
    """In which share of texts a piece stands."""
    stands: Counter[str] = Counter()
    for text in map(str.lower, texts):
        stands.update({text[at : at + size] for size in SIZES[language] for at in range(len(text) - size + 1)})
    return Counter({piece: count / len(texts) for piece, count in stands.items()})


def listed() -> str:
    """The lines of the file."""
    lines = []
    for language, patterns in shipped().items():
        needs = Needs(SIZES[language], _share(language))
        for pattern in patterns:
            pieces = needs.of(pattern)
            if pieces is not None:
                parts = ("".join(sorted(item for item in pieces if len(item) == size)) for size in SIZES[language])
                lines.append("\t".join([name_of(pattern, language), *parts]))
    return HEAD + "\n".join(sorted(lines)) + "\n"


def main() -> None:
    path = Path(str(files("ebbing.language").joinpath("packs", "needs.txt")))
    path.write_text(listed(), "utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
