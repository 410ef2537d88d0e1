"""What holds for every text and every moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from ebbing.language.dates.chinese.grammar import grammar as chinese_grammar
from ebbing.language.dates.english.grammar import grammar as english_grammar
from ebbing.language.dates.grammar import DateContext
from ebbing.language.dates.resolve import _fold, absolute, resolve

PIECES = (
    *"yesterday|last Friday|next week|in|on|May|8|8th|2023|2023-05-08|between|and|to|from|before|since".split("|"),
    *"three weeks ago|a couple of|years|the|early|end of|Christmas|at 3pm|last night|second|of|Feb 29|29".split("|"),
    *"去年|上周|周三|五月|8日|三天|前|后|以来|到|从|春节|下午|三点|半|年底|之间|和|二十|个月|最近|大|两".split("|"),
    *" |, |. |，|-|/|:|İ|\x00|９|週|'s".split("|"),
)
sentences = st.lists(st.sampled_from(PIECES), max_size=12).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces))
)
moments = st.datetimes(datetime(1001, 1, 1), datetime(2999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
ordinary_moments = st.datetimes(datetime(1995, 1, 1), datetime(2045, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
NAMED_DAYS = (
    "yesterday",
    "today",
    "tomorrow",
    "the day before yesterday",
    "12 days ago",
    "昨天",
    "大后天",
    "三天前",
    "二十天后",
)


@given(text=st.one_of(st.text(max_size=80), sentences), now=moments)
def test_a_span_lies_in_its_text_and_holds_some_time(text: str, now: datetime) -> None:
    finish = 0
    for span in resolve(text, now=now):
        assert finish <= span.begin < span.finish <= len(text)
        assert span.text == text[span.begin : span.finish]
        assert span.start < span.end
        assert span.start.tzinfo is UTC
        assert span.end.tzinfo is UTC
        finish = span.finish


@given(text=st.one_of(st.text(max_size=80), st.sampled_from(NAMED_DAYS), sentences), now=ordinary_moments)
def test_a_glance_at_a_text_hides_no_expression(text: str, now: datetime) -> None:
    said = DateContext(text=text, folded=_fold(text), now=now)
    for grammar in (english_grammar(), chinese_grammar()):
        assert grammar.tokens(said) == [*grammar._walk(said)]


@given(text=sentences, now=ordinary_moments)
def test_reading_a_text_twice_gives_the_same_spans(text: str, now: datetime) -> None:
    assert resolve(text, now=now) == resolve(text, now=now)


@given(text=st.sampled_from(NAMED_DAYS), now=ordinary_moments, days=st.integers(-3000, 3000))
def test_a_day_counted_from_now_moves_along_with_now(text: str, now: datetime, days: int) -> None:
    shift = timedelta(days=days)
    [before], [after] = resolve(text, now=now), resolve(text, now=now + shift)
    assert (before.start + shift, before.end + shift) == (after.start, after.end)


@given(text=sentences, now=ordinary_moments, later=ordinary_moments)
@example("2023-05-08到春节", datetime(2024, 6, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
@example("yesterday - 2023-05-08", datetime(2024, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC))
def test_an_explicit_date_means_the_same_at_any_moment(text: str, now: datetime, later: datetime) -> None:
    at_once, afterwards = resolve(text, now=now), resolve(text, now=later)
    for span in at_once:
        if any(one.begin < span.begin < one.finish and not one.explicit for one in afterwards):
            continue  # from yesterday until then: which is a range only where yesterday comes first
        if span.explicit and not any(word in span.text for word in ("since", "以来")):  # these reach to now
            twin = next(other for other in afterwards if other.begin == span.begin)
            assert (twin.start, twin.end) == (span.start, span.end)


@given(text=sentences, now=ordinary_moments)
def test_writing_dates_out_only_adds_to_a_text(text: str, now: datetime) -> None:
    dated = iter(absolute(text, now=now))
    assert all(char in dated for char in text)
