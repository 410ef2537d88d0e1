"""A file's text, whatever program wrote it: JSON lines or one JSON document, its format told by its look."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError
from ebbing.transfer.chat_formats import READERS, looks_like
from ebbing.transfer.imported_turn import Read, Turn, Unreadable

LOOKED_AT: Final = 20
"""Readable items that are looked at to tell the format."""

Numbered = tuple[int, Any]


def read(lines: Iterable[str], *, form: str | None = None) -> Iterator[Read]:
    """The messages or memories of a file, in order; a line that cannot be read becomes `Unreadable`.

    JSON lines are read one at a time. A file that is one JSON document (a list or an object) is read whole.

    Args:
        form: one of `READERS`; told from the content without it.

    Raises:
        InvalidInputError: the format cannot be told, or is unknown.
    """
    items = _items(lines)
    first = list(islice(items, LOOKED_AT))
    if form is None:
        form = next((name for _, item in first if (name := looks_like(item))), None)
        if form is None:
            raise InvalidInputError(f"this is no format we know; name one of {', '.join(READERS)}")
    if form not in READERS:
        raise InvalidInputError(f"unknown format: use one of {', '.join(READERS)}")
    return _read_items(chain(first, items), form)


def named(turns: Iterable[Read], name: str) -> Iterator[Read]:
    """The same, each message with a run and an id: `name` for the run, and its run and place for the id.

    The names are the same every time that the same file is read, so that nothing is stored twice.
    """
    counts: dict[str, int] = {}
    for turn in turns:
        if not isinstance(turn, Turn):
            yield turn
            continue
        run = turn.whose.get("run_id", name)
        counts[run] = counts.get(run, 0) + 1
        message = {"id": f"{run}:{counts[run]}", **turn.message}
        yield Turn(turn.line, message, {**turn.whose, "run_id": run}, turn.metadata)


def _read_items(items: Iterable[Numbered], form: str) -> Iterator[Read]:
    for number, item in items:
        if isinstance(item, Unreadable):
            yield item
        elif not isinstance(item, dict):
            yield Unreadable(number, f"not what a {form} file holds")
        else:
            yield from READERS[form](item, number)


def _items(lines: Iterable[str]) -> Iterator[Numbered]:
    """Line numbers and parsed items, `Unreadable` in place of what is no JSON."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    if not isinstance(_parsed(*first), Unreadable):
        yield from _by_line(chain([first], numbered))
        return
    rest = [first, *numbered]
    whole = _parsed(1, "".join(line for _, line in rest))
    yield from _by_line(rest) if isinstance(whole, Unreadable) else _entries(1, whole)


def _by_line(numbered: Iterable[tuple[int, str]]) -> Iterator[Numbered]:
    for number, line in numbered:
        yield from _entries(number, _parsed(number, line))


def _entries(number: int, item: object) -> Iterator[Numbered]:
    """The items of a list, numbered by their place; anything else is one item."""
    if isinstance(item, list):
        yield from enumerate(item, 1)
    else:
        yield number, item


def _parsed(number: int, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return Unreadable(number, "not valid JSON")
