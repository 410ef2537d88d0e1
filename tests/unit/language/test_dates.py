"""Time expressions: what they mean, seen from Wednesday 15 May 2024, ten in the morning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import perf_counter
from zoneinfo import ZoneInfo

import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.language.dates.resolve import BEGINNING, FOREVER, DateSpan, absolute, may_name_time, resolve

NOW = datetime(2024, 5, 15, 10, tzinfo=UTC)


def spans(text: str) -> list[tuple[str, str]]:
    """What was found and what it means, as "2024-05-08" for a day and "2024-05-08/2024-05-10" up to the last day."""
    return [(span.text, written(span)) for span in resolve(text, now=NOW)]


def written(span: DateSpan) -> str:
    if span.grain in {"hour", "minute"}:
        return f"{span.start:%Y-%m-%d %H:%M}/{span.end:%H:%M}"
    first = "…" if span.start == BEGINNING else f"{span.start:%Y-%m-%d}"
    last = "…" if span.end == FOREVER else f"{span.end - timedelta(minutes=1):%Y-%m-%d}"
    return first if first == last else f"{first}/{last}"


@pytest.mark.parametrize(
    ("text", "found", "meaning"),
    [
        ("it was 2023-05-08", "2023-05-08", "2023-05-08"),
        ("on 2023/5/8", "2023/5/8", "2023-05-08"),
        ("05/08/2023", "05/08/2023", "2023-05-08"),
        ("25/12/2023", "25/12/2023", "2023-12-25"),
        ("on 5/8 we met", "5/8", "2024-05-08"),
        ("8 May 2023", "8 May 2023", "2023-05-08"),
        ("the 8th of May, 2023", "8th of May, 2023", "2023-05-08"),
        ("May 8th", "May 8th", "2024-05-08"),
        ("Dec. 3, 2022", "Dec. 3, 2022", "2022-12-03"),
        ("May 2023", "May 2023", "2023-05-01/2023-05-31"),
        ("What did I do in May?", "May", "2024-05-01/2024-05-31"),
        ("What did I do in June?", "June", "2023-06-01/2023-06-30"),
        ("What will I do in June?", "June", "2024-06-01/2024-06-30"),
        ("in 2023", "2023", "2023-01-01/2023-12-31"),
        ("the night before last", "the night before last", "2024-05-13 18:00/06:00"),
        ("What did I do the Sunday before last?", "the Sunday before last", "2024-05-05"),
        ("on Memorial Day 2023", "Memorial Day 2023", "2023-05-29"),
        ("on Labor Day 2023", "Labor Day 2023", "2023-09-04"),
        ("on the winter solstice 2023", "winter solstice 2023", "2023-12-21/2023-12-22"),
        ("in the 90s", "the 90s", "1990-01-01/1999-12-31"),
        ("in the 1980s", "the 1980s", "1980-01-01/1989-12-31"),
        ("early 2022", "early 2022", "2022-01-01/2022-04-30"),
        ("mid 2022", "mid 2022", "2022-05-01/2022-08-31"),
        ("late 2022", "late 2022", "2022-09-01/2022-12-31"),
        ("Q1 2024", "Q1 2024", "2024-01-01/2024-03-31"),
        ("the first week of June", "the first week of June", "2024-06-01/2024-06-07"),
        ("the second Sunday of May", "the second Sunday of May", "2024-05-12"),
        ("summer of 2022", "summer of 2022", "2022-06-01/2022-08-31"),
        ("last Christmas", "last Christmas", "2023-12-25"),
        ("Thanksgiving 2022", "Thanksgiving 2022", "2022-11-24"),
        ("next Easter", "next Easter", "2025-04-20"),
    ],
)
def test_an_english_calendar_date_is_read(text: str, found: str, meaning: str) -> None:
    assert spans(text) == [(found, meaning)]


@pytest.mark.parametrize(
    ("text", "found", "meaning"),
    [
        ("yesterday", "yesterday", "2024-05-14"),
        ("the day before yesterday", "the day before yesterday", "2024-05-13"),
        ("the day after tomorrow", "the day after tomorrow", "2024-05-17"),
        ("last night", "last night", "2024-05-14 18:00/06:00"),
        ("this morning", "this morning", "2024-05-15 05:00/12:00"),
        ("last Wednesday", "last Wednesday", "2024-05-08"),
        ("this Friday", "this Friday", "2024-05-17"),
        ("next Friday", "next Friday", "2024-05-24"),
        ("two Fridays ago", "two Fridays ago", "2024-05-03"),
        ("last week", "last week", "2024-05-06/2024-05-12"),
        ("last weekend", "last weekend", "2024-05-11/2024-05-12"),
        ("this weekend", "this weekend", "2024-05-18/2024-05-19"),
        ("next month", "next month", "2024-06-01/2024-06-30"),
        ("last year", "last year", "2023-01-01/2023-12-31"),
        ("last summer", "last summer", "2023-06-01/2023-08-31"),
        ("the week before last", "the week before last", "2024-04-29/2024-05-05"),
        ("three weeks ago", "three weeks ago", "2024-04-22/2024-04-28"),
        ("a couple of days ago", "a couple of days ago", "2024-05-12/2024-05-13"),
        ("twenty-five years ago", "twenty-five years ago", "1999-01-01/1999-12-31"),
        ("half a year ago", "half a year ago", "2023-11-01/2023-11-30"),
        ("we will move in two months", "in two months", "2024-07-01/2024-07-31"),
        ("within the last 10 days", "last 10 days", "2024-05-05/2024-05-15"),
        ("over the past year", "past year", "2023-05-15/2024-05-15"),
        ("during the next two weeks", "next two weeks", "2024-05-15/2024-05-29"),
        ("the end of the month", "the end of the month", "2024-05-25/2024-05-31"),
        ("earlier this week", "earlier this week", "2024-05-13/2024-05-15"),
        ("the 21st of next month", "the 21st of next month", "2024-06-21"),
        ("since March", "since March", "2024-03-01/2024-05-15"),
        ("since June", "since June", "2023-06-01/2024-05-15"),
        ("before next Friday", "before next Friday", "…/2024-05-23"),
        ("after May 2023", "after May 2023", "2023-06-01/…"),
        ("between May and July 2023", "May and July 2023", "2023-05-01/2023-07-31"),
        ("from 3 to 5 June", "3 to 5 June", "2024-06-03/2024-06-05"),
        ("Dec 25th to Jan 3rd", "Dec 25th to Jan 3rd", "2023-12-25/2024-01-03"),
        ("Dec 28, 2022 - Jan 3, 2023", "Dec 28, 2022 - Jan 3, 2023", "2022-12-28/2023-01-03"),
        ("the Friday before 22 October 2023", "Friday before 22 October 2023", "2023-10-20"),
        ("the week before 9 June 2023", "the week before 9 June 2023", "2023-05-29/2023-06-04"),
        ("last weekend before April 10, 2023", "weekend before April 10, 2023", "2023-04-08/2023-04-09"),
        ("two days after May 3rd", "two days after May 3rd", "2024-05-05"),
        ("yesterday at 3pm", "yesterday at 3pm", "2024-05-14 15:00/16:00"),
        ("1:56 pm on 8 May, 2023", "1:56 pm on 8 May, 2023", "2023-05-08 13:56/13:57"),
        ("the morning of May 8th", "morning of May 8th", "2024-05-08 05:00/12:00"),
        ("at 2023-05-08T13:56:00Z", "2023-05-08T13:56:00Z", "2023-05-08 13:56/13:57"),
    ],
)
def test_an_english_distance_is_read_from_now(text: str, found: str, meaning: str) -> None:
    assert spans(text) == [(found, meaning)]


@pytest.mark.parametrize(
    ("text", "found", "meaning"),
    [
        ("2023年5月8日", "2023年5月8日", "2023-05-08"),
        ("5月8号", "5月8号", "2024-05-08"),
        ("五月八日", "五月八日", "2024-05-08"),
        ("二〇二三年", "二〇二三年", "2023-01-01/2023-12-31"),
        ("去年五月", "去年五月", "2023-05-01/2023-05-31"),
        ("今年夏天", "今年夏天", "2024-06-01/2024-08-31"),
        ("夏天去了海边", "夏天", "2023-06-01/2023-08-31"),
        ("上周三", "上周三", "2024-05-08"),
        ("下周一", "下周一", "2024-05-20"),
        ("下下周五", "下下周五", "2024-05-31"),
        ("上个月", "上个月", "2024-04-01/2024-04-30"),
        ("前天", "前天", "2024-05-13"),
        ("大前天", "大前天", "2024-05-12"),
        ("昨天晚上", "昨天晚上", "2024-05-14 18:00/00:00"),
        ("今早", "今早", "2024-05-15 05:00/10:00"),
        ("三天前", "三天前", "2024-05-12"),
        ("两三天前", "两三天前", "2024-05-12/2024-05-13"),
        ("两个星期后", "两个星期后", "2024-05-27/2024-06-02"),
        ("二十三天后", "二十三天后", "2024-06-07"),
        ("半年前", "半年前", "2023-11-01/2023-11-30"),
        ("一年半前", "一年半前", "2022-11-01/2022-11-30"),
        ("前几天", "前几天", "2024-05-08/2024-05-14"),
        ("最近一周", "最近一周", "2024-05-08/2024-05-15"),
        ("过去三个月", "过去三个月", "2024-02-15/2024-05-15"),
        ("未来两周", "未来两周", "2024-05-15/2024-05-29"),
        ("三天内交作业", "三天内", "2024-05-15/2024-05-18"),
        ("这周末", "这周末", "2024-05-18/2024-05-19"),
        ("周末要去爬山", "周末", "2024-05-18/2024-05-19"),
        ("月底", "月底", "2024-05-21/2024-05-31"),
        ("年初", "年初", "2024-01-01/2024-02-29"),
        ("去年年底", "去年年底", "2023-11-01/2023-12-31"),
        ("下半年", "下半年", "2024-07-01/2024-12-31"),
        ("五月的第二个周日", "五月的第二个周日", "2024-05-12"),
        ("去年春节", "去年春节", "2023-01-22/2023-01-28"),
        ("从2023年国庆到春节", "2023年国庆到春节", "2023-10-01/2024-02-16"),
        ("今年中秋", "今年中秋", "2024-09-17"),
        ("今年八月十五", "今年八月十五", "2024-09-17"),
        ("今年八月十五号", "今年八月十五号", "2024-08-15"),
        ("明年国庆节", "明年国庆节", "2025-10-01/2025-10-07"),
        ("去年年三十", "去年年三十", "2023-01-21"),
        ("去年冬至", "去年冬至", "2023-12-21/2023-12-22"),
        ("大年初二去拜年了", "大年初二", "2024-02-11"),
        ("去年五一期间", "去年五一期间", "2023-05-01/2023-05-05"),
        ("上世纪九十年代", "上世纪九十年代", "1990-01-01/1999-12-31"),
        ("明天下午三点半", "明天下午三点半", "2024-05-16 15:30/15:31"),
        ("昨晚八点", "昨晚八点", "2024-05-14 20:00/21:00"),
        ("5月8日前", "5月8日前", "…/2024-05-07"),
        ("上周三之后", "上周三之后", "2024-05-09/…"),
        ("去年以来", "去年以来", "2023-01-01/2024-05-15"),
        ("从去年开始", "从去年开始", "2023-01-01/2024-05-15"),
        ("5月3日至5日", "5月3日至5日", "2024-05-03/2024-05-05"),
        ("2023年5月到7月", "2023年5月到7月", "2023-05-01/2023-07-31"),
        ("从下周一到下周五", "下周一到下周五", "2024-05-20/2024-05-24"),
        ("兩個星期後", "兩個星期後", "2024-05-27/2024-06-02"),
        ("上週三", "上週三", "2024-05-08"),
        ("２０２３年５月８日", "２０２３年５月８日", "2023-05-08"),
    ],
)
def test_a_chinese_expression_is_read(text: str, found: str, meaning: str) -> None:
    assert spans(text) == [(found, meaning)]


@pytest.mark.parametrize(
    "text",
    [
        *("May I ask?", "You may 3 times", "They march 5 miles", "My friend May came", "April said hello"),
        *("wait a second", "one day I will", "24 years old", "for three days", "a 2 week trip", "two weeks of rest"),
        *("version 2023.5.8", "v2.3.1", "3/4 cup of flour", "call 555-2023", "$2023", "2000 words", "room 2019"),
        *("every Monday", "on Mondays", "sat in the sun", "a Christmas tree", "last name", "the second one"),
        *("gpt-2023", "foo2023", "2023-02-30", "Feb 30, 2023", "13912345678", "010-62345678"),
        *(
            "一天",
            "半天",
            "每周三",
            "两周一次",
            "8号楼",
            "24岁",
            "一个月",
            "第三天",
            "价格1999元",
            "一年级",
            "后天形成的",
        ),
        *(
            "爷爷中风了",
            "年中奖没发",
            "我喜欢夏天",
            "月饼",
            "周围",
            "今后",
            "一年中",
            "三点",
            "下午三点",
            "周杰伦",
            "几点了",
            "有时候",
        ),
        "三年三十六期，一期没落",
        "原先一月三千",
        "it was the first time in 19 years",
    ],
)
def test_a_false_friend_is_no_date(text: str) -> None:
    assert spans(text) == []


def test_what_begins_the_next_expression_ends_none() -> None:
    assert [span.text for span in resolve("年底前年", now=NOW)] == ["年底", "前年"]


def test_each_weekday_follows_the_tense_of_its_own_clause() -> None:
    assert spans("I went there on Monday and we will meet on Friday") == [
        ("Monday", "2024-05-13"),
        ("Friday", "2024-05-17"),
    ]
    assert spans("周一去了医院，周五要去复查") == [("周一", "2024-05-13"), ("周五", "2024-05-17")]


def test_a_text_in_two_languages_gives_both_dates() -> None:
    assert spans("我 last Friday 去了上海，下周三回来") == [("last Friday", "2024-05-10"), ("下周三", "2024-05-22")]


def test_chinese_is_left_alone_when_english_is_asked_for() -> None:
    assert [span.text for span in resolve("昨天 or yesterday", now=NOW, language="en")] == ["yesterday"]


def test_only_a_date_with_its_year_is_explicit() -> None:
    assert [span.explicit for span in resolve("8 May 2023, May 8th, yesterday", now=NOW)] == [True, False, False]


def test_a_span_says_on_which_side_of_now_it_lies() -> None:
    text = "yesterday, today, tomorrow, this year, the past two weeks, the next two weeks"
    assert [span.direction for span in resolve(text, now=NOW)] == ["past", "none", "future", "none", "past", "future"]


def test_a_day_begins_at_midnight_where_the_conversation_is() -> None:
    late = datetime(2024, 5, 15, 1, tzinfo=ZoneInfo("Asia/Shanghai"))
    [span] = resolve("昨天", now=late)
    assert (span.start, span.end) == (datetime(2024, 5, 13, 16, tzinfo=UTC), datetime(2024, 5, 14, 16, tzinfo=UTC))


def test_a_glance_tells_what_names_no_time() -> None:
    assert not may_name_time("what does she eat?")
    assert not may_name_time("她吃什么")
    assert all(map(may_name_time, ("what did we eat last week?", "上周吃了什么", "we met on 5/8")))


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no time zone"):
        resolve("yesterday", now=NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("下周三开会", "下周三（2024-05-22）开会"),
        ("We move next month.", "We move next month (June 2024)."),
        ("The trip is on 8 May 2023.", "The trip is on 8 May 2023."),
        ("Lunch tomorrow at 3pm", "Lunch tomorrow at 3pm (2024-05-16 15:00)"),
        ("finish it before next Friday", "finish it before next Friday (2024-05-24)"),
        ("last year's trip", "last year's (2023) trip"),
        ("明天下午三点到五点开会", "明天下午三点到五点（2024-05-16 15:00-17:00）开会"),
        ("no dates here", "no dates here"),
    ],
)
def test_a_relative_date_is_written_out_behind_its_words(text: str, dated: str) -> None:
    assert absolute(text, now=NOW) == dated


def test_a_text_that_is_written_out_stays_as_it_is() -> None:
    once = absolute("下周三开会, next month we move, last year's trip, this summer and tonight", now=NOW)
    assert absolute(once, now=NOW) == once


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["Last week I saw the second film. ", "昨天我和朋友去了公园，一天过得很快。", "1 ", "一", "may to "]
)
def test_a_long_text_is_read_in_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        return min(timed(text) for _ in range(3))

    def timed(text: str) -> float:
        begun = perf_counter()
        resolve(text, now=NOW)
        return perf_counter() - begun

    assert seconds(16_000) < 12 * seconds(4_000) + 0.02


@pytest.mark.parametrize("month", range(1, 13))
@pytest.mark.parametrize("day", [1, 15, 28])
def test_what_comes_once_a_year_is_found_on_both_sides_of_every_day(month: int, day: int) -> None:
    now = datetime(2024, month, day, 0, 1, tzinfo=UTC)
    for season in ("spring", "summer", "autumn", "winter"):
        [last] = resolve(f"last {season}", now=now)
        [following] = resolve(f"next {season}", now=now)
        assert last.end <= now < following.start
    for text in ("last Christmas", "next Christmas", "last May", "去年冬天", "上个冬天", "on February 29"):
        resolve(text, now=now)


MARCH = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["Dad pushed the payment to April 9th", "the concert was moved to 20 March", "他们把考试改到了4月2日"],
)
def test_a_year_that_tense_and_distance_disagree_about_is_not_written_down(text: str) -> None:
    assert absolute(text, now=MARCH) == text
    assert [span.doubtful for span in resolve(text, now=MARCH)] == [True]


@pytest.mark.parametrize(
    ("said_at", "text"),
    [
        (datetime(2026, 3, 21, tzinfo=UTC), "I'd go at the beginning of October"),
        (datetime(2026, 5, 30, tzinfo=UTC), "12月10号 射手座"),
        (datetime(2026, 3, 4, tzinfo=UTC), "MRI on the 19th"),
        (datetime(2026, 7, 13, tzinfo=UTC), "half pay til the end of December"),
        (datetime(2026, 4, 19, tzinfo=UTC), "小罗跟我求婚了 日子看了10月3号"),
        (datetime(2026, 4, 19, tzinfo=UTC), "this is the last week of the course"),
    ],
)
def test_a_far_date_whose_year_no_tense_tells_is_not_written_down(said_at: datetime, text: str) -> None:
    assert absolute(text, now=said_at) == text


def test_a_far_date_is_written_down_in_the_year_of_its_tense() -> None:
    may = datetime(2026, 5, 30, tzinfo=UTC)
    assert absolute("预产期12月10号", now=may) == "预产期12月10号（2026-12-10）"
    assert absolute("医生改成12月19了", now=may) == "医生改成12月19（2026-12-19）了"
    assert absolute("我10月1号去的北京", now=may) == "我10月1号（2025-10-01）去的北京"
    assert absolute("The exam will be on November 2", now=may) == "The exam will be on November 2 (2026-11-02)"


def test_a_weekday_and_a_date_that_name_different_days_are_not_written_down() -> None:
    assert absolute("I made the appointment, Tuesday the 14th", now=MARCH) == "I made the appointment, Tuesday the 14th"
    assert absolute("9月26是周六", now=MARCH) == "9月26是周六"
    assert absolute("3月10号是周二", now=MARCH) == "3月10号（2026-03-10）是周二"


@pytest.mark.parametrize(
    ("said_at", "text", "dated"),
    [
        (datetime(2026, 5, 22, tzinfo=UTC), "mum and dad are coming up saturday 6th", None),
        (datetime(2026, 5, 24, tzinfo=UTC), "no not the 6th, mum's got choir on the saturday", None),
        (
            datetime(2026, 3, 26, tzinfo=UTC),
            "From Monday it is 7, 11 and 3",
            "From Monday (2026-03-30) it is 7, 11 and 3",
        ),
        (
            datetime(2026, 3, 26, tzinfo=UTC),
            "From Monday we had no heating",
            "From Monday (2026-03-23) we had no heating",
        ),
        (
            datetime(2026, 6, 4, tzinfo=UTC),
            "they come Saturday 6th",
            "they come Saturday 6th (2026-06-06)",
        ),
    ],
)
def test_a_weekday_is_written_down_where_its_sentence_says_which_one(
    said_at: datetime, text: str, dated: str | None
) -> None:
    assert absolute(text, now=said_at) == (dated or text)


def test_a_year_that_tense_and_distance_agree_about_is_written_down() -> None:
    assert absolute("We went to Rome at Christmas", now=MARCH) == "We went to Rome at Christmas (2025-12-25)"
    assert absolute("我3月5号看了医生", now=MARCH) == "我3月5号（2026-03-05）看了医生"
    assert absolute("due on the last day of the month", now=MARCH) == "due on the last day of the month (2026-03-31)"
    assert absolute("The exam will be on April 2", now=MARCH) == "The exam will be on April 2 (2026-04-02)"


# ── dates whose tense and whose distance disagree ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said_at", "text"),
    [
        (datetime(2026, 4, 18, tzinfo=UTC), "the island is booked on the 19th"),
        (datetime(2026, 4, 18, tzinfo=UTC), "我19号去了医院"),
        (datetime(2025, 10, 30, tzinfo=UTC), "I am doing Thanksgiving, as I have done since 1989"),
        (datetime(2026, 1, 10, tzinfo=UTC), "定了，二月初我去了再说"),
    ],
)
def test_a_date_that_may_be_the_next_or_the_last_gets_no_note(said_at: datetime, text: str) -> None:
    assert absolute(text, now=said_at) == text


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("see you on the 19th", "see you on the 19th (2026-04-19)"),
        ("we did Thanksgiving at home", "we did Thanksgiving (2025-11-27) at home"),
        ("我25号去医院", "我25号（2026-04-25）去医院"),
    ],
)
def test_a_date_that_tense_and_distance_agree_on_gets_its_note(text: str, dated: str) -> None:
    assert absolute(text, now=datetime(2026, 4, 18, tzinfo=UTC)) == dated


# ── dates of which too much is guessed ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("said_at", "text"),
    [
        (datetime(2026, 9, 10, tzinfo=UTC), "七夕19号去西湖"),
        (datetime(2026, 5, 28, tzinfo=UTC), "19号到21号 三天"),
        (datetime(2026, 7, 15, tzinfo=UTC), "3号那个中午的大厅给别人了"),
        (datetime(2026, 11, 28, tzinfo=UTC), "not my last day, that's the 19th"),
        (datetime(2026, 12, 18, tzinfo=UTC), "they asked if I'd start on the 26th instead of the 12th"),
        (datetime(2026, 4, 1, tzinfo=UTC), "I have the 24th to the 28th"),
    ],
)
def test_a_day_of_a_month_that_is_not_certain_is_not_written_down(said_at: datetime, text: str) -> None:
    assert "号（" not in absolute(text, now=said_at)
    assert "th (" not in absolute(text, now=said_at)


@pytest.mark.parametrize(
    ("said_at", "text"),
    [
        (datetime(2026, 7, 12, tzinfo=UTC), "周三下班和周天早上游"),
        (datetime(2026, 9, 5, tzinfo=UTC), "围棋换到小区旁边一家，周五晚上六点半"),
        (datetime(2026, 10, 14, tzinfo=UTC), "改周天早上九点，光谷这边的馆"),
        (datetime(2026, 6, 25, tzinfo=UTC), "no more sunday phone call, feels wrong!"),
        (datetime(2026, 7, 8, tzinfo=UTC), "there goes saturday swim"),
        (datetime(2026, 2, 5, tzinfo=UTC), "found a studio, tuesday evenings"),
        (datetime(2026, 1, 18, tzinfo=UTC), "sunday 5 o'clock, like church"),
        (datetime(2026, 4, 4, tzinfo=UTC), "ward is delighted to be rid of him monday"),
    ],
)
def test_a_weekday_that_may_be_of_every_week_is_not_written_down(said_at: datetime, text: str) -> None:
    assert absolute(text, now=said_at) == text


@pytest.mark.parametrize(
    ("said_at", "text"),
    [
        (datetime(2026, 2, 18, tzinfo=UTC), "定了，国庆结婚，10月3号在黄石办"),
        (datetime(2026, 5, 2, tzinfo=UTC), "酒店10月3号给人抢了"),
        (datetime(2026, 2, 24, tzinfo=UTC), "we've got the concert in June"),
        (datetime(2026, 3, 5, tzinfo=UTC), "there's a 10k june 13, signed up for that instead"),
        (datetime(2026, 6, 30, tzinfo=UTC), "公公七十大寿(农历七月十八)"),
        (datetime(2026, 1, 8, tzinfo=UTC), "趁年底列个清单"),
        (datetime(2026, 10, 13, tzinfo=UTC), "Happy Thanksgiving my loves"),
        (datetime(2026, 1, 8, tzinfo=UTC), "下一个在2027年12月24日，正好平安夜"),
        (datetime(2026, 4, 7, tzinfo=UTC), "we've booked Brittany 8 to 22 August"),
        (datetime(2026, 4, 7, tzinfo=UTC), "she signed me up for 9 october"),
        (datetime(2026, 4, 7, tzinfo=UTC), "约了10月8号复查"),
        (datetime(2026, 4, 7, tzinfo=UTC), "订了8月8号到22号的房子"),
    ],
)
def test_a_year_that_no_verb_of_the_clause_tells_is_not_written_down(said_at: datetime, text: str) -> None:
    assert absolute(text, now=said_at) == text


@pytest.mark.parametrize(
    "text",
    [
        "没有明天的日子",
        "明天会更好",
        "eat like there's no tomorrow",
        "never got past week 3",
        "半小时后就睡着了",
        "不对 他刚说周一约满了 周二下午",
        "20 years married on thursday, me and Ruth",
        "这几天别喝酒",
        "前阵子胃炎",
        "开车前几天退票",
        "原条上注明日期",
        "以前年度损益",
    ],
)
def test_what_names_no_day_is_not_written_down(text: str) -> None:
    assert absolute(text, now=MARCH) == text


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("he was born last night at 3", "he was born last night (2026-03-09) at 3"),
        ("昨晚上三点生的", "昨晚上三点（2026-03-10 03:00）生的"),
        ("今天十一点才出来", "今天十一点（2026-03-10）才出来"),
        ("于 3 月 28 日前往医院", "于 3 月 28 日（2026-03-28）前往医院"),
        ("daycare goes up in june. of course", "daycare goes up in june (June 2026). of course"),
        ("finish friday 27 march", "finish friday 27 march (2026-03-27)"),
        ("finish tuesday 5 may. hands shaking", "finish tuesday 5 may (2026-05-05). hands shaking"),
        ("the vet found it friday", "the vet found it friday (2026-03-06)"),
    ],
)
def test_a_date_with_a_clock_or_a_weekday_beside_it_is_written_down_once(text: str, dated: str) -> None:
    assert absolute(text, now=MARCH) == dated


@pytest.mark.parametrize("verb", ["broke", "hurt", "tore", "sold", "became"])
def test_what_happened_in_a_month_did_not_happen_in_a_month_to_come(verb: str) -> None:
    [span] = resolve(f"I {verb} it in November", now=NOW)
    assert span.start < NOW
