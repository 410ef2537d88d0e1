"""Where the logs of a service or worker go: to standard error, as text or as lines of JSON."""

from __future__ import annotations

import atexit
import logging
from logging.handlers import QueueListener
from queue import SimpleQueue

from ebbing.observe.logs import TEXT, JsonLines, LogQueue
from ebbing.wiring.config.settings import Settings


def log_as(settings: Settings) -> None:
    """Send what `ebbing` logs to standard error as the settings say, unless the host has set up logging itself.

    A thread writes, so that no request waits for the stream; what is left is written at the end of the process.
    """
    logger = logging.getLogger("ebbing")
    if logger.handlers or logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if settings.log_format == "json" else logging.Formatter(TEXT))
    records: SimpleQueue[logging.LogRecord] = SimpleQueue()
    listener = QueueListener(records, handler)
    listener.start()
    atexit.register(listener.stop)
    logger.addHandler(LogQueue(records))
    logger.setLevel(settings.log_level.upper())
