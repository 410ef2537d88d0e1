"""Names as small integers, so that a filter by name is a comparison of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class InternedNames:
    """Small integers for the agents, runs, speakers, attributes and objects of one owner; 0 means "none"."""

    __slots__ = ("_codes", "_names")

    def __init__(self) -> None:
        self._names: list[str | None] = [None]
        self._codes: dict[str | None, int] = {None: 0}

    def codes(self, names: Sequence[str | None]) -> Iterable[int]:
        """The numbers of names; a new one is given out at first sight."""
        for name in dict.fromkeys(names):
            if name not in self._codes:
                self._codes[name] = len(self._names)
                self._names.append(name)
        return map(self._codes.__getitem__, names)

    def find(self, name: str) -> int:
        """The number of a name, or −1 when no row has it."""
        return self._codes.get(name, -1)

    def name(self, code: int) -> str | None:
        """The name behind a number."""
        return self._names[code]

    def __len__(self) -> int:
        return len(self._names) - 1

    def items(self) -> Iterable[tuple[str, int]]:
        """Every name with its number."""
        # A copy: a shard that follows this one may learn of new names meanwhile, in another thread.
        return [(name, code) for name, code in self._codes.copy().items() if name is not None]
