"""A meter whose counts Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ebbing.domain.memory.record import MemoryRecord
from ebbing.ports.clock import Clock
from ebbing.ports.meter import Answer, Measure, StoreCounts

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the buckets of times."""
SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
STABLE: Final = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
AGE_SECONDS: Final = tuple(days * 86_400 for days in (1, 7, 30, 90, 180, 365, 730))


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
        self._calls = Counter("ebbing_operations", "Calls of the memory.", ["operation", "outcome"], **made)
        self._errors = Counter("ebbing_errors", "Calls that raised, by code.", ["operation", "code"], **made)
        self._seconds = Histogram(
            "ebbing_operation_duration_seconds", "Time that calls take.", ["operation"], buckets=SECONDS, **made
        )
        self._events = Counter("ebbing_add_events", "What became of facts and messages.", ["event"], **made)
        self._duplicates = Counter("ebbing_duplicates", "Facts and messages that were known already.", **made)
        self._searches_with_results = Counter("ebbing_searches_with_results", "Searches that found something.", **made)
        self._dropped = Counter(
            "ebbing_retriever_failures", "Retrievers that failed or were late.", ["retriever"], **made
        )
        self._score = Histogram("ebbing_result_score", "Relevance of recalled memories.", buckets=SHARES, **made)
        self._confidence = Histogram(
            "ebbing_result_confidence", "Confidence of recalled memories.", buckets=SHARES, **made
        )
        self._strength = Histogram("ebbing_result_strength", "Strength of recalled memories.", buckets=SHARES, **made)
        self._age = Histogram("ebbing_result_age_seconds", "Age of recalled memories.", buckets=AGE_SECONDS, **made)
        self._risky = Counter("ebbing_context_risky_memories", "Memories in a context whose use is risky.", **made)
        self._memories = Gauge("ebbing_memories", "Memories that are kept, by layer.", ["layer"], **made)
        self._records = Gauge("ebbing_records", "Records of the store, by kind.", ["kind"], **made)
        self._owners = Gauge("ebbing_owners", "Owners of whom something is stored.", **made)
        self._store_bytes = Gauge("ebbing_store_bytes", "Size of the store on the disk.", **made)
        self._jobs = Gauge("ebbing_jobs", "Jobs, by state.", ["state"], **made)
        self._behind = Gauge("ebbing_embedding_backlog", "Texts that are stored and wait for their vectors.", **made)
        self._chats = Counter("ebbing_proxy_chats", "Chats through the proxy, by what memory gave.", ["memory"], **made)
        self._stable_share = Histogram(
            "ebbing_proxy_stable_share", "Share of the last prompt that stands in the next.", buckets=STABLE, **made
        )
        self._requests = Counter("ebbing_http_requests", "Requests.", ["method", "route", "status"], **made)
        self._request_seconds = Histogram(
            "ebbing_http_request_duration_seconds", "Time that requests take.", ["route"], buckets=SECONDS, **made
        )

        self._unshared = Counter(
            "ebbing_rate_limit_outages", "Times that the shared rate limits ceased to answer.", **made
        )

    def begin(self, operation: str) -> Measure:
        """Starts the watch."""
        return _Call(self, operation)

    def requested(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """One request over HTTP was answered; `route` is the pattern of its path."""
        self._requests.labels(method, route, status).inc()
        self._request_seconds.labels(route).observe(seconds)

    def rates_unshared(self) -> None:
        """Count that the shared rate limits ceased to answer."""
        self._unshared.inc()

    def relayed(self, outcome: str, *, stable_share: float | None) -> None:
        """Count a chat; `stable_share` is what a model's prompt cache could keep of the prompt before it."""
        self._chats.labels(outcome).inc()
        if stable_share is not None:
            self._stable_share.observe(stable_share)

    def stored(self, counts: StoreCounts) -> None:
        """Set what the store holds at the moment."""
        for layer, memories in counts.by_layer.items():
            self._memories.labels(layer).set(memories)
        for kind, records in counts.by_kind.items():
            self._records.labels(kind).set(records)
        for state, jobs in counts.jobs.items():
            self._jobs.labels(state).set(jobs)
        self._owners.set(counts.owners)
        self._store_bytes.set(counts.bytes_on_disk)

    def behind(self, texts: int) -> None:
        """So many texts wait for their vectors at the moment."""
        self._behind.set(texts)

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self.registry)

    def ended(self, operation: str, seconds: float, *, code: str | None = None) -> None:
        """One call ended; `code` is that of its error."""
        self._calls.labels(operation, "ok" if code is None else "error").inc()
        if code is not None:
            self._errors.labels(operation, code).inc()
        self._seconds.labels(operation).observe(seconds)

    def answered(self, operation: str, results: Sequence[Mapping[str, Any]]) -> None:
        """Count what became of an add, or what a search or a context recalled."""
        if operation == "add":
            self._count_added(results)
            return
        if operation == "search" and results:
            self._searches_with_results.inc()
        now = self._clock.now()
        self._risky.inc(sum(1 for item in results if item.get("risky")))
        for item in results:
            self._count_recalled(
                item.get("score"),
                confidence=item.get("confidence", 1.0),
                strength=item.get("strength", 1.0),
                age=now - _time(item.get("created_at"), now),
            )

    def recalled(self, records: Sequence[MemoryRecord], scores: Sequence[float]) -> None:
        """Count the memories that a search recalled."""
        if records:
            self._searches_with_results.inc()
        now = self._clock.now()
        for record, score in zip(records, scores, strict=True):
            self._count_recalled(
                score, confidence=record.confidence, strength=record.strength, age=now - record.created_at
            )

    def without(self, route: str) -> None:
        """A route had no say in an answer."""
        self._dropped.labels(route).inc()

    def _count_added(self, results: Iterable[Mapping[str, Any]]) -> None:
        for item in results:
            self._events.labels(str(item.get("event"))).inc()
            if item.get("event") == "NONE" and item.get("id") is not None:
                self._duplicates.inc()

    def _count_recalled(self, score: float | None, *, confidence: float, strength: float, age: timedelta) -> None:
        if score is not None:
            self._score.observe(score)
        self._confidence.observe(confidence)
        self._strength.observe(strength)
        self._age.observe(max(age.total_seconds(), 0.0))


class _Call:
    """One call under way."""

    __slots__ = ("_began", "_meter", "_operation")

    def __init__(self, meter: PrometheusMeter, operation: str) -> None:
        self._meter, self._operation, self._began = meter, operation, perf_counter()

    def done(self, answer: Answer) -> None:
        seconds = perf_counter() - self._began
        results: Any = answer.get("results", answer.get("memories")) if isinstance(answer, Mapping) else answer
        if isinstance(results, list):
            self._meter.answered(self._operation, results)
        self._meter.ended(self._operation, seconds)

    def searched(
        self, records: Sequence[MemoryRecord], *, scores: Sequence[float], failed_retrievers: Iterable[str]
    ) -> None:
        self._meter.ended(self._operation, perf_counter() - self._began)
        self._meter.recalled(records, scores)
        for retriever in failed_retrievers:
            self._meter.without(retriever)

    def failed(self, code: str) -> None:
        self._meter.ended(self._operation, perf_counter() - self._began, code=code)


def _time(text: object, default: datetime) -> datetime:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return default
    return time if time.tzinfo else time.replace(tzinfo=UTC)
