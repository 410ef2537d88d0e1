"""Logs and measures of a process."""

from __future__ import annotations

import atexit
import logging
from logging.handlers import QueueListener
from queue import SimpleQueue

from ebbing.domain.errors import MissingExtraError
from ebbing.observe.logs import TEXT, JsonLines, LogQueue
from ebbing.ports.clock import Clock
from ebbing.ports.meter import SILENCE, Meter
from ebbing.wiring.config.settings import Settings

# Where the logs of a service or worker go: to standard error, as text or as lines of JSON.


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


# What measures, if anything does.


def meter_of(settings: Settings, clock: Clock) -> Meter:
    """Return the meter that the settings ask for.

    Raises:
        MissingExtraError: its package is not installed.
    """
    meter: Meter = SILENCE
    if settings.metrics:
        try:
            from ebbing.adapters.telemetry.prometheus_meter import PrometheusMeter
        except ImportError as error:
            raise MissingExtraError("metrics need prometheus-client: pip install 'ebbing[server]'") from error
        meter = PrometheusMeter(clock)
    if settings.traces:
        try:
            from ebbing.adapters.telemetry.otel_meter import OtelMeter
        except ImportError as error:
            raise MissingExtraError("traces need OpenTelemetry: pip install 'ebbing[otel]'") from error
        meter = OtelMeter(meter)
    return meter
