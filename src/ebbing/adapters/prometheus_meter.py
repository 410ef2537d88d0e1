"""A meter whose counts Prometheus reads."""

from __future__ import annotations

from collections import Counter as Counts
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain, repeat
from operator import attrgetter, truediv
from threading import Lock
from time import perf_counter
from typing import Any, Final, TypeVar

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily

from ebbing.domain.memory.record import MemoryRecord
from ebbing.ports.clock import Clock
from ebbing.ports.meter import Answer, Measure

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the buckets of times."""
SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DAYS: Final = (1, 7, 30, 90, 180, 365, 730)
_DAY: Final = timedelta(days=1)
_WAITING: Final = 512
"""Values that wait to be counted together, of one label."""
_HEARD: Final = 512
"""Calls, requests and recalled memories that wait to be counted together: that takes a fifth of the time."""
_OF_RECORD: Final = attrgetter("confidence", "strength", "created_at")
_Waiting = TypeVar("_Waiting")
Told = tuple[Any, tuple[Any, Any, datetime]]
"""Of a recalled memory its score, and its confidence, strength and when it was made."""


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
        self._behind = Gauge("ebbing_vectors_waiting", "Texts that are stored and wait for their vectors.", **made)
        self._requests = Counter("ebbing_http_requests", "Requests.", ["method", "route", "status"], **made)
        self._request_seconds = Spread(
            "ebbing_http_request_seconds", "Time that requests take.", label="route", bounds=SECONDS, **made
        )
        self._asked: deque[tuple[str, str, int, float]] = deque()
        """Requests that wait to be counted: method, route, status and seconds."""
        self._ended: deque[tuple[str, float, str | None, Sequence[Told]]] = deque()
        """Calls that wait: operation, seconds, the code of the error, and what was recalled."""
        # The library takes three steps to look labels up; there are few of them.
        self._call_of, self._request_of = cache(self._calls.labels), cache(self._requests.labels)

    def begin(self, operation: str) -> Measure:
        """Starts the watch."""
        return _Call(self, operation)

    def requested(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """One request over HTTP was answered; `route` is the pattern of its path."""
        self._asked.append((method, route, status, seconds))
        if len(self._asked) >= _HEARD:
            self._count_requests()

    def stored(self, by_layer: Mapping[str, int], counts: Mapping[str, float]) -> None:
        """What the store holds at the moment: memories by layer, and other counts by name."""
        for layer, memories in by_layer.items():
            self._kept.labels(layer).set(memories)
        for name, count in counts.items():
            self._store.labels(name).set(count)

    def behind(self, texts: int) -> None:
        """So many texts wait for their vectors at the moment."""
        self._behind.set(texts)

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        self._count_requests()
        self._count_calls()
        return generate_latest(self.registry)

    def note(self, operation: str, seconds: float, *, code: str | None = None, told: Sequence[Told] = ()) -> None:
        """One call ended."""
        self._ended.append((operation, seconds, code, told))
        if len(self._ended) >= _HEARD:
            self._count_calls()

    def answered(self, operation: str, results: Sequence[Mapping[str, Any]]) -> Sequence[Told]:
        """Counts what became of an add, or what is risky of a context; what else there is to count of it."""
        if operation == "add":
            self._note_added(results)
            return ()
        now = self._clock.now()
        self._risky.inc(sum(1 for one in results if one.get("risky")))
        return [
            (
                one.get("score"),
                (one.get("confidence", 1.0), one.get("strength", 1.0), _moment(one.get("created_at"), now)),
            )
            for one in results
        ]

    def without(self, route: str) -> None:
        """A route had no say in an answer."""
        self._dropped.labels(route).inc()

    def _note_added(self, results: Iterable[Mapping[str, Any]]) -> None:
        for one in results:
            self._events.labels(str(one.get("event"))).inc()
            if one.get("event") == "NONE" and one.get("id") is not None:
                self._duplicates.inc()

    def _count_requests(self) -> None:
        asked = _taken(self._asked)
        for (method, route, status), times in Counts(one[:3] for one in asked).items():
            self._request_of(method, route, status).inc(times)
        for route in {one[1] for one in asked}:
            self._request_seconds.note([one[3] for one in asked if one[1] == route], route)

    def _count_calls(self) -> None:
        ended = _taken(self._ended)
        for (operation, code), times in Counts((one[0], one[2]) for one in ended).items():
            self._call_of(operation, "ok" if code is None else "error").inc(times)
            if code is not None:
                self._errors.labels(operation, code).inc(times)
        for operation in {one[0] for one in ended}:
            self._seconds.note([one[1] for one in ended if one[0] == operation], operation)
        self._found.inc(sum(1 for one in ended if one[0] == "search" and one[3]))
        self._count_recalled([*chain.from_iterable(one[3] for one in ended)])

    def _count_recalled(self, told: Sequence[Told]) -> None:
        if not told:
            return
        now = self._clock.now()
        scores, of_records = zip(*told, strict=True)
        confidences, strengths, times = zip(*of_records, strict=True)
        self._score.note([score for score in scores if score is not None])
        self._confidence.note(confidences)
        self._strength.note(strengths)
        # No loops of Python's own: many wait.
        self._age.note([*map(max, map(truediv, map(now.__sub__, times), repeat(_DAY)), repeat(0.0))])


def _taken(waiting: deque[_Waiting]) -> list[_Waiting]:
    """What waits, taken from there: each once, whatever other threads take or add meanwhile."""
    taken = []
    while waiting:
        try:
            taken.append(waiting.popleft())
        except IndexError:  # another thread was quicker
            break
    return taken


class Spread:
    """A histogram that costs less than the library's: values wait and are counted together. Read, it gets its form."""

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
        self._waiting: dict[str, list[float]] = {}
        self._counts: dict[str, list[int]] = {}
        """By label, how many values are not above each bound."""
        self._sums: dict[str, float] = {}
        if label is None:
            self.note([])
        registry.register(self)

    def note(self, values: Sequence[float], label: str = "") -> None:
        """Counts them, each in the bucket whose upper bound is the first that is not below it."""
        with self._lock:
            waiting = self._waiting.setdefault(label, [])
            waiting += values
            if len(waiting) >= _WAITING:
                self._count(label)

    def _count(self, label: str) -> None:
        values = np.sort(np.array(self._waiting.pop(label), dtype=np.float64))
        below = np.searchsorted(values, self._bounds, side="right").tolist()
        counts = self._counts.get(label, [0] * len(self._bounds))
        self._counts[label] = [count + more for count, more in zip(counts, below, strict=True)]
        self._sums[label] = self._sums.get(label, 0.0) + float(values.sum())

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """As the library's registry asks for it."""
        family = HistogramMetricFamily(self._name, self._about, labels=self._labels)
        with self._lock:
            for label in list(self._waiting):
                self._count(label)
            found = [(label, counts, self._sums[label]) for label, counts in self._counts.items()]
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
        seconds, meter = perf_counter() - self._began, self._meter
        found: Any = answer.get("results", answer.get("memories")) if isinstance(answer, Mapping) else answer
        told = meter.answered(self._operation, found) if isinstance(found, list) else ()
        meter.note(self._operation, seconds, told=told)

    def found(self, records: Sequence[MemoryRecord], *, scores: Sequence[float], dropped: Iterable[str]) -> None:
        seconds, meter = perf_counter() - self._began, self._meter
        told = [*zip(scores, map(_OF_RECORD, records), strict=True)]
        meter.note(self._operation, seconds, told=told)
        for route in dropped:
            meter.without(route)

    def failed(self, code: str) -> None:
        self._meter.note(self._operation, perf_counter() - self._began, code=code)


def _moment(told: object, otherwise: datetime) -> datetime:
    try:
        made = datetime.fromisoformat(str(told))
    except ValueError:
        return otherwise
    return made if made.tzinfo else made.replace(tzinfo=UTC)
