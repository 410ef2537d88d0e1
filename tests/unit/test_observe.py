"""Logs, traces and counts that tell how the memory is doing and nothing of anybody."""

from __future__ import annotations

import io
import json
import logging
import re
import time
from datetime import timedelta

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from ebbing import AsyncMemory
from ebbing.adapters.otel_meter import OtelMeter
from ebbing.adapters.prometheus_meter import SHARES, PrometheusMeter, Spread
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.observe.logs import JsonLines, Lines, TextLines, hashed, lines_of
from ebbing.observe.trace import continued
from ebbing.ports.meter import SILENCE
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
RANDOM = "0123456789abcdef" * 2


def opened(**settings: object) -> AsyncMemory:
    return AsyncMemory(parts=build(load_settings({"store": "ephemeral", "embedder": "none", **settings})))


async def test_calls_are_counted_timed_and_told_apart_by_what_came_of_them() -> None:
    async with opened(metrics=True) as memory:
        await memory.add("I am allergic to peanuts.", user_id="emma")
        await memory.add("I am allergic to peanuts.", user_id="emma")
        await memory.search("peanuts", user_id="emma")
        await memory.search("peanuts", user_id="nobody")
        with pytest.raises(InvalidInputError):
            await memory.search(" ", user_id="emma")
        meter = memory.parts.meter
        assert isinstance(meter, PrometheusMeter)
        text = meter.text().decode()
    assert 'ebbing_calls_total{operation="add",outcome="ok"} 2.0' in text
    assert 'ebbing_calls_total{operation="search",outcome="ok"} 2.0' in text
    assert 'ebbing_errors_total{code="invalid_input",operation="search"} 1.0' in text
    assert 'ebbing_add_events_total{event="ADD"} 1.0' in text
    assert "ebbing_duplicates_total 1.0" in text
    assert "ebbing_searches_with_results_total 1.0" in text
    assert 'ebbing_call_seconds_count{operation="search"} 3.0' in text
    assert not re.search("emma|peanut|nobody", text)


async def test_recalled_memories_and_dropped_routes_are_counted() -> None:
    clock = ManualClock()
    meter = PrometheusMeter(clock)
    at = clock.now() - timedelta(days=3)
    record = MemoryRecord("1", Scope(user_id="emma"), "green tea", at, at)
    for dropped in ((), ("semantic",)):
        meter.begin("search").found([record], scores=[0.75], dropped=dropped)
    meter.begin("search").found([], scores=[], dropped=())
    risky = {"score": 0.5, "confidence": 0.9, "strength": 1.0, "created_at": "2020-01-01", "risky": True}
    meter.begin("context").done({"memories": [risky, {"created_at": "?"}]})
    text = meter.text().decode()
    for line in (
        'ebbing_calls_total{operation="search",outcome="ok"} 3.0',
        "ebbing_searches_with_results_total 2.0",
        'ebbing_routes_dropped_total{route="semantic"} 1.0',
        'ebbing_recalled_score_bucket{le="0.7"} 1.0',
        "ebbing_recalled_score_count 3.0",
        'ebbing_recalled_age_days_bucket{le="1.0"} 1.0',
        'ebbing_recalled_age_days_bucket{le="7.0"} 3.0',
        "ebbing_recalled_age_days_count 4.0",
        "ebbing_risky_recalls_total 1.0",
    ):
        assert line in text, line


async def test_without_a_meter_nothing_is_measured() -> None:
    async with opened() as memory:
        assert memory.parts.meter is SILENCE
        await memory.add("I like tea", user_id="emma")


async def test_a_call_is_a_span_of_the_hosts_trace() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    meter = OtelMeter(SILENCE, provider.get_tracer("test"))
    with provider.get_tracer("host").start_as_current_span("request") as parent:
        meter.begin("search").done({"results": [{}, {}]})
        meter.begin("add").failed("store")
    search, add = exporter.get_finished_spans()[:2]
    assert (search.name, dict(search.attributes or {})) == ("ebbing.search", {"ebbing.results": 2})
    assert search.parent is not None
    assert search.parent.span_id == parent.get_span_context().span_id
    assert (add.name, add.status.is_ok, dict(add.attributes or {})) == ("ebbing.add", False, {"ebbing.code": "store"})


def test_a_log_line_is_json_and_tells_no_words_of_an_exception() -> None:
    record = logging.LogRecord("ebbing.x", logging.WARNING, "f", 1, "%s went wrong", ("it",), None)
    record.request_id, record.password = "r1", "secret"
    try:
        raise ValueError("emma's diary")
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    line = json.loads(JsonLines().format(record))
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "ebbing.x",
        "message": "it went wrong",
        "request_id": "r1",
        "exception": "ValueError",
    }


def record_of(words: str, level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord("ebbing.x", level, "f", 1, "%s said", (words,), None)


def test_a_line_of_text_reads_as_the_librarys() -> None:
    theirs, ours = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"), TextLines()
    for seconds in (1_700_000_000.0625, 1_700_000_000.9375, 1_700_000_001.5, 5.0):
        record = record_of("it")
        record.created, record.msecs = seconds, seconds % 1 * 1_000
        assert ours.format(record) == theirs.format(record)
    try:
        raise ValueError("no")
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    assert ours.format(record) == theirs.format(record)
    assert "ValueError: no" in ours.format(record)


class Calls(io.StringIO):
    """A stream that counts how often it is written to."""

    count = 0

    def write(self, text: str) -> int:
        self.count += 1
        return super().write(text)


def lines_to(stream: Calls) -> Lines:
    handler = Lines(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler


def test_lines_are_written_together_and_soon() -> None:
    stream = Calls()
    handler = lines_to(stream)
    for number in range(3):
        handler.handle(record_of(str(number)))
    assert stream.getvalue() == ""
    patience = time.monotonic() + 10
    while not stream.count and time.monotonic() < patience:
        time.sleep(0.01)
    assert (stream.getvalue(), stream.count) == ("0 said\n1 said\n2 said\n", 1)


def test_a_warning_is_written_at_once_after_what_waits() -> None:
    stream = Calls()
    handler = lines_to(stream)
    handler.handle(record_of("first"))
    handler.handle(record_of("second", logging.WARNING))
    assert stream.getvalue() == "first said\nsecond said\n"


def test_many_lines_do_not_wait_and_none_is_lost_at_the_end() -> None:
    stream = Calls()
    handler = lines_to(stream)
    for number in range(1_000):
        handler.handle(record_of(str(number)))
    assert stream.count in range(3, 6)  # three times a full batch; the time may have come as well
    handler.flush()
    assert stream.getvalue() == "".join(f"{number} said\n" for number in range(1_000))


def test_lines_are_told_apart_from_what_else_a_logger_may_tell() -> None:
    logger, handler = logging.Logger("ebbing.x"), lines_to(Calls())
    assert lines_of(logger) is None
    logger.parent = logging.Logger("ebbing")
    logger.parent.addHandler(handler)
    assert lines_of(logger) is handler
    handler.setLevel(logging.ERROR)
    assert lines_of(logger) is None
    handler.setLevel(logging.NOTSET)
    logger.addFilter(lambda _: False)
    assert lines_of(logger) is None
    logger.filters.clear()
    logger.addHandler(logging.NullHandler())
    assert lines_of(logger) is None


def test_a_line_may_be_made_when_it_is_written() -> None:
    stream = Calls()
    handler = lines_to(stream)
    made = []
    handler.later(lambda: made.append("it") or record_of("first"))
    assert made == []
    handler.handle(record_of("second", logging.WARNING))
    assert (made, stream.getvalue()) == (["it"], "first said\nsecond said\n")


def test_a_person_is_a_hash_that_is_the_same_each_time_and_another_for_each_key() -> None:
    assert hashed(None) is None
    assert hashed("emma") == hashed("emma") != hashed("emma", key=b"k") != hashed("bob", key=b"k")
    assert re.fullmatch("[0-9a-f]{12}", hashed("小明\ud800") or "")


def test_a_request_goes_on_with_the_trace_of_whoever_sent_it() -> None:
    step = continued("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", random_hex=RANDOM)
    assert (step.trace_id, step.flags) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00")
    assert step.header == f"00-4bf92f3577b34da6a3ce929d0e0e4736-{step.span_id}-00"
    assert step.span_id != "00f067aa0ba902b7"


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
    ],
)
def test_without_a_usable_trace_a_request_begins_its_own(header: str | None) -> None:
    assert continued(header, random_hex=RANDOM).trace_id == RANDOM[:32]


@pytest.mark.parametrize("times", [1, 200])
def test_values_lie_in_the_buckets_that_the_library_would_put_them_in(times: int) -> None:
    values = [0.0, 0.125, 0.1, 0.12501, 0.375, 1.0, 7.5]
    theirs, ours = CollectorRegistry(), CollectorRegistry()
    histogram, spread = (
        Histogram("it", "It.", buckets=SHARES, registry=theirs),
        Spread("it", "It.", bounds=SHARES, registry=ours),
    )
    for _ in range(times):
        spread.note(values)
        for value in values:
            histogram.observe(value)
    assert _counted(ours) == _counted(theirs)
    assert ours.get_sample_value("it_sum") == pytest.approx(theirs.get_sample_value("it_sum"))
    spread.note([0.5])
    assert ours.get_sample_value("it_count") == times * len(values) + 1


def _counted(registry: CollectorRegistry) -> list[bytes]:
    return [line for line in generate_latest(registry).splitlines() if b"_created" not in line and b"_sum" not in line]
