"""Logs as lines of text or of JSON, in which people are hashes, written by a thread of their own."""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import UTC, datetime
from logging.handlers import QueueHandler
from typing import Any, Final

FIELDS: Final = ("request_id", "trace_id", "span_id", "method", "route", "status", "ms", "tenant", "who", "user")
"""What a record may carry beside its words, through `extra`."""
_MAX: Final = 2_000
TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
"""`2026-01-31 09:30:00,125 INFO ebbing.access: …` in the machine's time."""


class LogQueue(QueueHandler):
    """Hands records on to another thread as they are: the formatter there decides what is told of an exception."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Put the arguments into words now, since they may change."""
        record.msg, record.args = record.getMessage(), None
        return record


class JsonLines(logging.Formatter):
    """One object a line: `time, level, logger, message`, and those of `FIELDS` that are set."""

    def format(self, record: logging.LogRecord) -> str:
        """The line. Of an exception its type and place are told, never its words: they may hold a person's."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:_MAX],
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


def hashed(name: str | None, *, key: bytes = b"") -> str | None:
    """Twelve hex digits that stand for a person's id in logs; the same for the same key and id. None for None.

    Without a secret key it hides the id from a reader, not from somebody who guesses it.
    """
    if name is None:
        return None
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6, key=key[:64]).hexdigest()
