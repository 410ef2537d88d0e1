"""The trace that a request belongs to, as W3C Trace Context writes it (https://www.w3.org/TR/trace-context/)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HEADER: Final = "traceparent"
_WRITTEN: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")


class Trace(NamedTuple):
    """One step of a trace. A tuple, since every request makes one."""

    trace_id: str
    """32 hex digits, the same for all its steps."""
    span_id: str
    """16 hex digits, of this step."""
    flags: str = "01"

    @property
    def header(self) -> str:
        """The value of `traceparent` for what this step calls."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


def continued(header: str | None, *, random_hex: str) -> Trace:
    """The step that a request with this header begins; of a trace of its own where there is none, or an unusable one.

    Args:
        random_hex: 32 hex digits that nothing else has; the last 16 of them random.
    """
    written = _WRITTEN.fullmatch(header.strip()) if header else None
    if written is None:
        return Trace(random_hex, random_hex[16:])
    return Trace(written[1], random_hex[16:], written[3])
