"""A meter whose calls are spans of OpenTelemetry, in whatever trace is under way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode

from ebbing.domain.memory.record import MemoryRecord
from ebbing.ports.meter import Answer, Measure, Meter


class OtelMeter:
    """A `Meter` that opens a span for each call, and tells another meter as well.

    Args:
        beside: the other one.
        tracer: by default that of the tracer provider which the host has set.
    """

    is_on = True

    def __init__(self, inner: Meter, tracer: trace.Tracer | None = None) -> None:
        self.inner, self._tracer = inner, tracer or trace.get_tracer("ebbing")

    def begin(self, operation: str) -> Measure:
        """Opens a span `ebbing.{operation}`, a child of the current one."""
        return _Spanned(self._tracer.start_span(f"ebbing.{operation}"), self.inner.begin(operation))


class _Spanned:
    """One call under way."""

    def __init__(self, span: Span, inner: Measure) -> None:
        self._span, self._inner = span, inner

    def done(self, answer: Answer) -> None:
        results = answer.get("results") if isinstance(answer, dict) else answer
        if isinstance(results, list):
            self._span.set_attribute("ebbing.results", len(results))
        self._span.end()
        self._inner.done(answer)

    def searched(
        self, records: Sequence[MemoryRecord], *, scores: Sequence[float], failed_retrievers: Iterable[str]
    ) -> None:
        self._span.set_attribute("ebbing.results", len(records))
        self._span.end()
        self._inner.searched(records, scores=scores, failed_retrievers=failed_retrievers)

    def failed(self, code: str) -> None:
        self._span.set_attribute("ebbing.code", code)
        self._span.set_status(Status(StatusCode.ERROR, code))
        self._span.end()
        self._inner.failed(code)
