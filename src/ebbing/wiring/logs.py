"""Where the logs of a service or worker go: to standard error, as text or as lines of JSON."""

from __future__ import annotations

import logging

from ebbing.observe.logs import JsonLines, Lines, TextLines
from ebbing.wiring.settings import Settings


def log_as(settings: Settings) -> None:
    """Sends what `ebbing` logs to standard error as the settings say, unless the host has set up logging itself."""
    logger = logging.getLogger("ebbing")
    if logger.handlers or logging.getLogger().handlers:
        return
    handler = Lines()
    handler.setFormatter(JsonLines() if settings.log_format == "json" else TextLines())
    logger.addHandler(handler)
    logger.setLevel(settings.log_level.upper())
