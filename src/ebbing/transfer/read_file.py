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


def read(lines: Iterable[str | Unreadable], *, form: str | None = None) -> Iterator[Read]:
    """The messages or memories of a file, in order; a line that cannot be read becomes `Unreadable`.

    JSON lines are read one at a time. A file that is one JSON document (a list or an object) is read whole.

    Args:
        form: one of `READERS`; told from the content without it.

    Raises:
        InvalidInputError: it is no JSON, its JSON breaks off, or its format is unknown; the message says what it is.
    """
    if form is not None and form not in READERS:
        raise InvalidInputError(f"unknown format: use one of {', '.join(READERS)}")
    items = _items(lines)
    first = list(islice(items, LOOKED_AT))
    if not first:
        raise InvalidInputError("the file holds no chats: its JSON is empty")
    if form is None:
        form = next((name for _, item in first if (name := looks_like(item))), None)
    if form is None:
        raise InvalidInputError(
            "the file is JSON, but holds no messages that we know ('role' and 'content', 'mapping', 'conversations' or"
            f" 'mes'): if it is a chat, name its format with --format ({', '.join(READERS)})"
        )
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
        run = turn.owner_ids.get("run_id", name)
        counts[run] = counts.get(run, 0) + 1
        message = {"id": f"{run}:{counts[run]}", **turn.message}
        yield Turn(turn.line, message, {**turn.owner_ids, "run_id": run}, turn.metadata)


def _read_items(items: Iterable[Numbered], form: str) -> Iterator[Read]:
    for number, item in items:
        if isinstance(item, Unreadable):
            yield item
        elif not isinstance(item, dict):
            yield Unreadable(number, f"not what a {form} file holds")
        else:
            yield from READERS[form](item, number)


def _items(lines: Iterable[str | Unreadable]) -> Iterator[Numbered]:
    """Line numbers and parsed items, `Unreadable` in place of what is no JSON."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if isinstance(line, Unreadable) or line.strip())
    first = next(numbered, None)
    if first is None:
        return
    if not isinstance(_parsed(*first), Unreadable):
        yield from _by_line(chain([first], numbered))
        return
    rest = [first, *numbered]
    damaged = [line for _, line in rest if isinstance(line, Unreadable)]
    text = "".join(line for _, line in rest if isinstance(line, str))
    whole = Unreadable(1, "") if damaged else _parsed(1, text)
    if not isinstance(whole, Unreadable):
        yield from _entries(1, whole)
    elif any(not isinstance(_parsed(*line), Unreadable) for line in rest[1 : 1 + LOOKED_AT]):
        yield from _by_line(rest)
    else:
        raise InvalidInputError(f"line {damaged[0].line}: {damaged[0].reason}" if damaged else _what_it_is(text))


def _by_line(numbered: Iterable[tuple[int, str | Unreadable]]) -> Iterator[Numbered]:
    for number, line in numbered:
        yield from _entries(number, _parsed(number, line))


def _entries(number: int, item: object) -> Iterator[Numbered]:
    """The items of a list, numbered by their place; anything else is one item."""
    if isinstance(item, list):
        yield from enumerate(item, 1)
    else:
        yield number, item


def _parsed(number: int, text: str | Unreadable) -> Any:
    if isinstance(text, Unreadable):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        broken = text.lstrip().startswith(("{", "[")) and _breaks_off(error)
        return Unreadable(number, "the JSON breaks off: was the file cut here?" if broken else "not valid JSON")
    except (ValueError, RecursionError):
        return Unreadable(number, "not valid JSON")


def _breaks_off(error: json.JSONDecodeError) -> bool:
    """Whether the text ends where more should follow."""
    left = len(error.doc.rstrip()) - error.pos
    return left <= 0 or error.msg.startswith("Unterminated string") or ("escape" in error.msg and left <= len("uXXXX"))


def _what_it_is(text: str) -> str:
    """What a text that is no JSON is instead, and what to do about it."""
    start = text.lstrip()[:1]
    if start == "<":
        return "the file is HTML or XML: import the JSON of the same export (conversations.json)"
    if start not in {"{", "["}:
        return (
            f"the file is plain text and no chat export ({', '.join(READERS)}):"
            " `ebbing add - < FILE` remembers a text as one message"
        )
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if _breaks_off(error):
            return f"the JSON breaks off in line {error.lineno}: the file was cut; copy or download it again"
        return f"the file is not valid JSON: look at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        pass
    return "the file is JSON that is nested too deeply, and no chat export"
