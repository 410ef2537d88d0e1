"""A meter whose counts Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from threading import Lock
from time import perf_counter
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily

from ebbing.ports.clock import Clock
from ebbing.ports.meter import Answer, Measure

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the buckets of times."""
SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DAYS: Final = (1, 7, 30, 90, 180, 365, 730)


class PrometheusMeter:
    """A `Meter` with a registry of its own, so that several memories of one process count apart.

    No label names a person, a memory, or anything that somebody made up: operations, error codes, events and layers are
    few and known.
    """

    is_on = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.registry = CollectorRegistry()
        made: dict[str, Any] = {"registry": self.registry}
        self._calls = Counter("ebbing_calls", "Calls of the memory.", ["operation", "outcome"], **made)
        self._errors = Counter("ebbing_errors", "Calls that raised, by code.", ["operation", "code"], **made)
        self._seconds = Spread(
            "ebbing_call_seconds", "Time that calls take.", label="operation", bounds=SECONDS, **made
        )
        self._events = Counter("ebbing_add_events", "What became of facts and messages.", ["event"], **made)
        self._duplicates = Counter("ebbing_duplicates", "Facts and messages that were known already.", **made)
        self._found = Counter("ebbing_searches_with_results", "Searches that found something.", **made)
        self._dropped = Counter("ebbing_routes_dropped", "Routes that failed or were late.", ["route"], **made)
        self._score = Spread("ebbing_recalled_score", "Relevance of recalled memories.", bounds=SHARES, **made)
        self._confidence = Spread(
            "ebbing_recalled_confidence", "Confidence of recalled memories.", bounds=SHARES, **made
        )
        self._strength = Spread("ebbing_recalled_strength", "Strength of recalled memories.", bounds=SHARES, **made)
        self._age = Spread("ebbing_recalled_age_days", "Age of recalled memories.", bounds=DAYS, **made)
        self._risky = Counter("ebbing_risky_recalls", "Memories in a context whose use is risky.", **made)
        self._kept = Gauge("ebbing_memories", "Memories that are kept, by layer.", ["layer"], **made)
        self._store = Gauge("ebbing_store", "What the store holds.", ["what"], **made)
        self._requests = Counter("ebbing_http_requests", "Requests.", ["method", "route", "status"], **made)
        self._request_seconds = Spread(
            "ebbing_http_request_seconds", "Time that requests take.", label="route", bounds=SECONDS, **made
        )

    def begin(self, operation: str) -> Measure:
        """Starts the watch."""
        return _Call(self, operation)

    def requested(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """One request over HTTP was answered; `route` is the pattern of its path."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.note([seconds], route)

    def stored(self, by_layer: Mapping[str, int], counts: Mapping[str, float]) -> None:
        """What the store holds at the moment: memories by layer, and other counts by name."""
        for layer, memories in by_layer.items():
            self._kept.labels(layer).set(memories)
        for name, count in counts.items():
            self._store.labels(name).set(count)

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self.registry)

    def note(self, operation: str, seconds: float, *, code: str | None = None, answer: Answer = None) -> None:
        """One call ended."""
        self._calls.labels(operation, "ok" if code is None else "error").inc()
        self._seconds.note([seconds], operation)
        if code is not None:
            self._errors.labels(operation, code).inc()
            return
        results = [one for one in _results(answer) if isinstance(one, Mapping)]
        if operation == "add":
            self._note_added(results)
            return
        self._note_recalled(results)
        if operation == "search" and results:
            self._found.inc()
        for route in answer.get("dropped", ()) if isinstance(answer, Mapping) else ():
            self._dropped.labels(route).inc()

    def _note_added(self, results: Iterable[Mapping[str, Any]]) -> None:
        for one in results:
            self._events.labels(str(one.get("event"))).inc()
            if one.get("event") == "NONE" and one.get("id") is not None:
                self._duplicates.inc()

    def _note_recalled(self, results: Sequence[Mapping[str, Any]]) -> None:
        now = self._clock.now()
        self._score.note([one["score"] for one in results if "score" in one])
        self._confidence.note([one.get("confidence", 1.0) for one in results])
        self._strength.note([one.get("strength", 1.0) for one in results])
        self._age.note([_age_days(one.get("created_at"), now) for one in results])
        if risky := sum(1 for one in results if one.get("risky")):
            self._risky.inc(risky)


class Spread:
    """A histogram that takes many values at once for what the library's takes for one; it gets its form when read."""

    def __init__(
        self,
        name: str,
        about: str,
        *,
        bounds: Sequence[float],
        registry: CollectorRegistry,
        label: str | None = None,
    ) -> None:
        self._name, self._about, self._labels = name, about, [label] if label else []
        self._bounds = [*map(float, bounds), float("inf")]
        self._lock = Lock()
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}
        if label is None:
            self.note([])
        registry.register(self)

    def note(self, values: Sequence[float], label: str = "") -> None:
        """Counts them, each in the bucket whose upper bound is the first that is not below it."""
        with self._lock:
            counts = self._counts.setdefault(label, [0] * len(self._bounds))
            for value in values:
                counts[bisect_left(self._bounds, value)] += 1
            self._sums[label] = self._sums.get(label, 0.0) + sum(values)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """As the library's registry asks for it."""
        family = HistogramMetricFamily(self._name, self._about, labels=self._labels)
        with self._lock:
            found = [(label, list(accumulate(counts)), self._sums[label]) for label, counts in self._counts.items()]
        for label, counts, total in found:
            buckets = [(_written(bound), count) for bound, count in zip(self._bounds, counts, strict=True)]
            family.add_metric([label] if self._labels else [], buckets=buckets, sum_value=total)
        yield family


def _written(bound: float) -> str:
    return "+Inf" if bound == float("inf") else str(bound)


class _Call:
    """One call under way."""

    __slots__ = ("_began", "_meter", "_operation")

    def __init__(self, meter: PrometheusMeter, operation: str) -> None:
        self._meter, self._operation, self._began = meter, operation, perf_counter()

    def done(self, answer: Answer) -> None:
        self._meter.note(self._operation, perf_counter() - self._began, answer=answer)

    def failed(self, code: str) -> None:
        self._meter.note(self._operation, perf_counter() - self._began, code=code)


def _results(answer: Answer) -> Iterable[Any]:
    if isinstance(answer, Mapping):
        found: Any = answer.get("results", answer.get("memories", ()))
        return found if isinstance(found, list) else ()
    return answer or ()


def _age_days(created_at: object, now: datetime) -> float:
    try:
        made = datetime.fromisoformat(str(created_at))
    except ValueError:
        return 0.0
    aware = made if made.tzinfo else made.replace(tzinfo=UTC)
    return max(0.0, (now - aware).total_seconds() / 86_400)
