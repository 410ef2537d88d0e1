"""What measures, if anything does."""

from __future__ import annotations

from ebbing.domain.errors import MissingExtraError
from ebbing.ports.clock import Clock
from ebbing.ports.meter import SILENCE, Meter
from ebbing.wiring.config.settings import Settings


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
