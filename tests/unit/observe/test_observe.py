"""Logs, traces and counts that tell how the memory is doing and nothing of anybody."""

from __future__ import annotations

import io
import json
import logging
import re
from datetime import timedelta
from logging.handlers import QueueListener
from queue import SimpleQueue

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ebbing import AsyncMemory
from ebbing.adapters.telemetry.otel_meter import OtelMeter
from ebbing.adapters.telemetry.prometheus_meter import PrometheusMeter
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.observe.logs import JsonLines, LogQueue, hashed
from ebbing.observe.trace import continued
from ebbing.ports.meter import SILENCE
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
RANDOM = "0123456789abcdef" * 2


def opened(**settings: object) -> AsyncMemory:
    return AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none", **settings})))


async def test_calls_are_counted_timed_and_told_apart_by_what_came_of_them() -> None:
    async with opened(metrics=True) as memory:
        await memory.add("I am allergic to peanuts.", user_id="emma")
        await memory.add("I am allergic to peanuts.", user_id="emma")
        await memory.search("peanuts", user_id="emma")
        await memory.search("peanuts", user_id="nobody")
        with pytest.raises(InvalidInputError):
            await memory.search(" ", user_id="emma")
        meter = memory.components.meter
        assert isinstance(meter, PrometheusMeter)
        text = meter.text().decode()
    assert 'ebbing_operations_total{operation="add",outcome="ok"} 2.0' in text
    assert 'ebbing_operations_total{operation="search",outcome="ok"} 2.0' in text
    assert 'ebbing_errors_total{code="invalid_input",operation="search"} 1.0' in text
    assert 'ebbing_add_events_total{event="ADD"} 1.0' in text
    assert "ebbing_duplicates_total 1.0" in text
    assert "ebbing_searches_with_results_total 1.0" in text
    assert 'ebbing_operation_duration_seconds_count{operation="search"} 3.0' in text
    assert not re.search("emma|peanut|nobody", text)


async def test_recalled_memories_and_dropped_routes_are_counted() -> None:
    clock = ManualClock()
    meter = PrometheusMeter(clock)
    at = clock.now() - timedelta(days=3)
    record = MemoryRecord("1", Scope(user_id="emma"), "green tea", at, at)
    for failed in ((), ("semantic",)):
        meter.begin("search").searched([record], scores=[0.75], failed_retrievers=failed)
    meter.begin("search").searched([], scores=[], failed_retrievers=())
    risky = {"score": 0.5, "confidence": 0.9, "strength": 1.0, "created_at": "2020-01-01", "risky": True}
    meter.begin("context").done({"memories": [risky, {"created_at": "?"}]})
    text = meter.text().decode()
    for line in (
        'ebbing_operations_total{operation="search",outcome="ok"} 3.0',
        "ebbing_searches_with_results_total 2.0",
        'ebbing_retriever_failures_total{retriever="semantic"} 1.0',
        'ebbing_result_score_bucket{le="0.7"} 1.0',
        "ebbing_result_score_count 3.0",
        'ebbing_result_age_seconds_bucket{le="86400.0"} 1.0',
        'ebbing_result_age_seconds_bucket{le="604800.0"} 3.0',
        "ebbing_result_age_seconds_count 4.0",
        "ebbing_context_risky_memories_total 1.0",
    ):
        assert line in text, line


async def test_without_a_meter_nothing_is_measured() -> None:
    async with opened() as memory:
        assert memory.components.meter is SILENCE
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


def test_what_another_thread_writes_is_what_was_logged() -> None:
    stream, records = io.StringIO(), SimpleQueue[logging.LogRecord]()
    handler, logger = logging.StreamHandler(stream), logging.Logger("ebbing.x")
    handler.setFormatter(JsonLines())
    logger.addHandler(LogQueue(records))
    listener = QueueListener(records, handler)
    listener.start()
    words = ["first"]
    logger.info("%s", words, extra={"request_id": "r1"})
    words[0] = "changed since"
    try:
        raise ValueError("emma's diary")
    except ValueError:
        logger.exception("second")
    listener.stop()
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["message"], first["request_id"]) == ("['first']", "r1")
    assert (second["message"], second["exception"]) == ("second", "ValueError")
    assert "diary" not in stream.getvalue()


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
