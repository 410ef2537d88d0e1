"""The limits on the size and the depth of a value from outside; checked without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ebbing.domain.errors import TooLargeError

MAX_DEPTH: Final = 32
"""Lists and dicts that may lie in each other."""
MAX_VALUES: Final = 65_536
"""Values that may lie in one, counted through all levels."""
MAX_METADATA_BYTES: Final = 65_536
"""Of the JSON of a record's metadata."""


def check_nesting(value: object, name: str) -> None:
    """Refuse a value that is nested too deeply, or that holds too many others, whatever its parts are.

    Raises:
        TooLargeError: it is; the message says the bound.
    """
    level: list[object] = [value]
    values = 0
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        values += len(level)
        if not level:
            return
        if values > MAX_VALUES:
            raise TooLargeError(f"{name} holds more than {MAX_VALUES} values")
    raise TooLargeError(f"{name} is nested more than {MAX_DEPTH} levels deep")


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, Sequence | set) and not isinstance(value, str | bytes | bytearray) else ()
