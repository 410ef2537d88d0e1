"""Where the logs of a service or worker go: to standard error, as text or as lines of JSON."""

from __future__ import annotations

import logging

from ebbing.observe.logs import JsonLines
from ebbing.wiring.settings import Settings


def log_as(settings: Settings) -> None:
    """Sends what `ebbing` logs to standard error as the settings say, unless the host has set up logging itself."""
    logger = logging.getLogger("ebbing")
    if logger.handlers or logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    as_text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if settings.log_format == "json" else as_text)
    logger.addHandler(handler)
    logger.setLevel(settings.log_level.upper())
