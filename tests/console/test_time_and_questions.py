"""The screens about time, about one memory and about a question, in a real browser."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.page import PHONE, Console
from tests.console.seed import today

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

HOMES = {"en": ("emma", "York", "Leeds"), "zh": ("linxiao", "徐汇", "朝阳")}
QUESTIONS = {"en": ("emma", "Which book does she like best?"), "zh": ("linxiao", "林晓住在哪里？")}


def stored(console: Console, user: str, text: str, **options: Any) -> dict[str, Any]:
    """Return a memory as the service knows it."""
    body = {"user_id": user, "filters": {"text": {"contains": text}}, "state": "all", **options}
    found = console.api("POST", "/v1/memories/list", json=body)["memories"]
    assert found, text
    memory: dict[str, Any] = found[0]
    return memory


def texts(console: Console) -> list[str]:
    return console.page.locator(".memory .memory-text").all_inner_texts()


# ── a day in the past, a day in the future ───────────────────────────────────────────────────────────────────────────


def test_the_slider_to_a_past_day_shows_what_was_believed_then(console: Console) -> None:
    first = stored(console, "emma", "Emma's name is Emma")
    added = stored(console, "emma", "ukulele")
    console.of("emma")
    assert added["text"] in texts(console)
    slider = console.page.get_by_role("slider")
    slider.focus()
    slider.press("Home")
    console.page.get_by_role("tab", name=console.word("days.list_past")).wait_for()
    console.page.locator(".memory", has_text="ukulele").wait_for(state="detached")
    expected = console.api(
        "POST", "/v1/memories/list", json={"user_id": "emma", "as_of": f"{first['created_at'][:10]}T23:59:59Z"}
    )
    console.settle()
    assert sorted(texts(console)) == sorted(item["text"] for item in expected["memories"])


def test_what_has_changed_since_a_day_names_the_new_memory(console: Console) -> None:
    day = (today() - timedelta(days=4)).date().isoformat()
    console.go(f"#/of/user/emma/memories?day={day}")
    console.page.get_by_role("tab", name=console.word("days.changes_past")).click()
    console.page.locator(".change", has_text="ukulele").first.wait_for()
    assert console.page.locator(".change", has_text="chickpeas").count() == 0


def test_a_day_to_come_shows_that_memories_fade(console: Console) -> None:
    memory = stored(console, "emma", "ukulele")
    fades = datetime.fromisoformat(memory["freshness"]["fades_at"])
    row = console.page.locator(".memory", has_text="ukulele")
    console.of("emma")
    assert console.word("fresh.faded").split("{")[0] not in row.locator(".outlook").inner_text()
    console.go(f"#/of/user/emma/memories?day={(fades + timedelta(days=20)).date().isoformat()}")
    assert console.word("fresh.faded").split("{")[0] in row.locator(".outlook").inner_text()
    console.page.get_by_role("tab", name=console.word("days.changes_future")).click()
    console.page.get_by_text(console.word("days.forecast_hint").split("{")[0]).wait_for()


# ── one memory ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_memory_shows_its_sentence_its_curve_and_what_it_replaced(
    browser: Browser, address: str, language: str
) -> None:
    user, now, before = HOMES[language]
    with Console.opened(browser, address, language=language) as console:
        memory = stored(console, user, now, state="current")
        told = console.api("GET", f"/v1/memories/{memory['id']}/explain", params={"user_id": user})
        console.of(user, "memory", memory["id"])
        console.page.locator(".curve svg").wait_for()
        text = console.text()
        assert told["provenance"]["source_text"] in text
        assert told["provenance"]["rule"] in text
        assert console.word("curve.will_fade") in text
        console.page.locator(".conflict .side.is-over", has_text=before).wait_for()
        assert console.overflow() <= 0


def test_a_use_is_marked_on_the_curve(console: Console) -> None:
    memory = stored(console, "emma", "Biscuit")
    console.of("emma", "memory", memory["id"])
    console.page.locator(".curve circle.use").first.wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_about_one_memory(browser: Browser, address: str, dark: bool) -> None:
    with Console.opened(browser, address, dark=dark) as console:
        console.of("emma", "memory", stored(console, "emma", "York", state="current")["id"])
        console.page.locator(".curve svg").wait_for()
        assert console.serious_problems() == []


def test_a_phone_shows_all_of_one_memory(browser: Browser, address: str) -> None:
    with Console.opened(browser, address, language="zh", size=PHONE) as console:
        console.of("linxiao", "memory", stored(console, "linxiao", "徐汇", state="current")["id"])
        console.page.locator(".curve svg").wait_for()
        assert console.overflow() <= 0


def test_a_pinned_memory_never_fades_until_it_is_unpinned(console: Console) -> None:
    memory = stored(console, "emma", "Biscuit")
    console.of("emma", "memory", memory["id"])
    console.button("memory.pin").click()
    console.button("memory.unpin").wait_for()
    assert stored(console, "emma", "Biscuit")["freshness"]["never_fades"]
    console.button("memory.unpin").click()
    console.button("memory.pin").wait_for()
    assert not stored(console, "emma", "Biscuit")["freshness"]["never_fades"]


# ── a question ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answer_to_a_question_shows_what_the_service_says_of_it(
    browser: Browser, address: str, language: str
) -> None:
    user, question = QUESTIONS[language]
    with Console.opened(browser, address, language=language) as console:
        body = {"user_id": user, "query": question, "explain": True, "top_k": 5}
        expected = console.api("POST", "/v1/memories/search", json=body)["memories"]
        console.of(user, "ask")
        console.page.get_by_label(console.word("ask.question")).fill(question)
        console.button("ask.action").click()
        console.page.locator(".hits .hit").first.wait_for()
        first = console.page.locator(".run > section .hits").first
        assert first.locator(".memory-text").all_inner_texts() == [item["text"] for item in expected]
        shown = first.locator(".score-value").all_inner_texts()
        # A page rounds 0.145 up, and Python does not.
        assert [float(text.split()[-1]) for text in shown] == pytest.approx(
            [item["score"] for item in expected], abs=0.0051
        )
        if language == "en":
            assert first.locator(".why").all_inner_texts() == [item["why"] for item in expected]
        assert console.page.locator(".prompt").inner_text().strip().startswith("<recalled-memory>")


def test_a_second_run_beside_it_has_its_own_settings(console: Console) -> None:
    console.go("#/of/user/emma/ask?q=book")
    console.page.get_by_label(console.word("ask.compare")).check()
    most = console.page.get_by_label(console.word("ask.top_k"))
    most.nth(0).fill("3")
    most.nth(1).fill("1")
    console.page.get_by_label(console.word("ask.precise")).nth(1).uncheck()
    console.button("ask.action").click()
    console.page.locator(".run").nth(1).wait_for()
    runs = console.page.locator(".run")
    assert [runs.nth(at).locator("> section .hits").first.locator(".hit").count() for at in (0, 1)] == [3, 1]
    assert console.page.locator(".hit.is-alone").count() == 2


def test_what_was_left_out_says_why(console: Console) -> None:
    console.go("#/of/user/emma/ask?q=book")
    console.page.locator(".not-found > summary").click()
    assert console.word("left_out.beyond_limit") in console.page.locator(".left-out").first.inner_text()
