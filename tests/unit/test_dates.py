"""Time expressions: what they mean, seen from Wednesday 15 May 2024, ten in the morning."""

from __future__ import annotations

from datetime import UTC, datetime

from ebbing.language.dates import resolve

NOW = datetime(2024, 5, 15, 10, tzinfo=UTC)


def test_last_wednesday_in_chinese_is_the_wednesday_of_last_week() -> None:
    [span] = resolve("上周三我们去了哪里?", now=NOW)
    assert (span.text, span.start, span.end) == (
        "上周三",
        datetime(2024, 5, 8, tzinfo=UTC),
        datetime(2024, 5, 9, tzinfo=UTC),
    )
