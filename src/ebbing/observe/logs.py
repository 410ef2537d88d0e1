"""Logs as lines of text or of JSON, in which people are hashes, written many at a time."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TextIO

FIELDS: Final = ("request_id", "trace_id", "span_id", "method", "route", "status", "ms", "tenant", "who", "user")
"""What a record may carry beside its words, through `extra`."""
_MAX: Final = 2_000
_WAITING: Final = 256
"""Lines that wait to be written, at most."""
_SECONDS: Final = 0.1
"""How long the first of them waits."""


class Lines(logging.StreamHandler[TextIO]):
    """Writes lines together, a tenth of a second after the first of them: a call of the system costs more than a line.

    They are put into words together too, beside whoever logs. From a warning on they are written at once, with those
    that wait. A process that is killed loses what waits.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._waiting: deque[Callable[[], logging.LogRecord | str]] = deque()
        self._some = threading.Event()
        self._writer: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps the line, or writes it with all that wait."""
        try:
            self.later(lambda: record)
            if record.levelno >= logging.WARNING:
                self.flush()
        except OSError:
            self.handleError(record)

    def later(self, make: Callable[[], logging.LogRecord | str]) -> None:
        """Keeps a line of which the record, or the text that the formatter would make of it, is made beside."""
        self._waiting.append(make)
        if len(self._waiting) >= _WAITING:
            self.flush()
        elif len(self._waiting) == 1:
            self._wake()

    def flush(self) -> None:
        """Writes what waits."""
        with self.lock or threading.RLock():
            lines = []
            while self._waiting:
                lines.append(self._line(self._waiting.popleft()()))
            if lines:
                self.stream.write("".join(lines))
            super().flush()

    def _line(self, record: logging.LogRecord | str) -> str:
        if isinstance(record, str):
            return f"{record}{self.terminator}"
        try:
            return f"{self.format(record)}{self.terminator}"
        except (LookupError, TypeError, ValueError):
            self.handleError(record)
            return ""

    def _wake(self) -> None:
        if self._writer is None or not self._writer.is_alive():  # the first line, or the first in a forked child
            self._writer = threading.Thread(target=self._write, daemon=True, name="ebbing-log")
            self._writer.start()
        self._some.set()

    def _write(self) -> None:
        while self._some.wait():
            self._some.clear()
            time.sleep(_SECONDS)
            with suppress(OSError, ValueError):  # nobody is there to be told that the stream is gone
                self.flush()


def lines_of(logger: logging.Logger) -> Lines | None:
    """Where all that a logger tells goes, if that is to one handler of this kind alone; None for all else."""
    found: Lines | None = None
    teller: logging.Logger | None = logger
    while teller is not None:
        for handler in teller.handlers:
            if found is not None or not isinstance(handler, Lines):
                return None
            found = handler
        teller = teller.parent if teller.propagate else None
    return None if found is None or found.level or found.filters or logger.filters else found


class TextLines(logging.Formatter):
    """`2026-01-31 09:30:00,125 INFO ebbing.access: …` in the machine's time, as the library writes it and for less."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._second = (0, "")

    def format(self, record: logging.LogRecord) -> str:
        """The line; what comes with an exception is left to the library."""
        if record.exc_info or record.stack_info:
            return super().format(record)
        said = f"{record.levelname} {record.name}: {record.getMessage()}"
        return self.line(said, created=record.created, msecs=record.msecs)

    def line(self, said: str, *, created: float, msecs: float) -> str:
        """The line of what was said, by level, logger and message, in this second since 1970 and its milliseconds."""
        second, shown = self._second
        if second != int(created):
            second = int(created)
            shown = time.strftime(self.default_time_format, time.localtime(second))
            self._second = (second, shown)
        return f"{shown},{int(msecs):03} {said}"


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
