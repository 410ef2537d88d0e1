"""The screens of profile, graph, review, content, maintenance, health and access, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console.conftest import WITHOUT_MODEL
from tests.console.page import ADMIN_KEY, Console
from tests.console.seed import seed, today
from tests.live_service import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def own_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service whose people these tests may change."""
    path: Path = tmp_path_factory.mktemp("desk") / "store"
    seed(path, today())
    with served(path, settings=WITHOUT_MODEL) as service:
        yield service.address


@pytest.fixture
def desk(browser: Browser, own_address: str) -> Iterator[Console]:
    with Console.opened(browser, own_address) as console:
        yield console


def entry(console: Console, text: str) -> Locator:
    return console.page.locator(".entry").filter(has_text=text).first


def test_an_edit_of_the_profile_lasts_and_can_be_taken_back(desk: Console) -> None:
    desk.of("emma", "profile")
    desk.button("action.edit", within=entry(desk, "York")).click()
    dialog = desk.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Whitby")
    desk.button("action.save", within=dialog).click()
    entry(desk, "Whitby").wait_for()
    desk.api("POST", "/v1/memories", json={"user_id": "emma", "messages": "I live in Hull now."})
    desk.page.reload()
    entry(desk, "Whitby").wait_for()
    desk.button("profile.revert", within=entry(desk, "Whitby")).click()
    entry(desk, "Whitby").wait_for(state="detached")


def test_something_is_added_to_the_profile_and_taken_out(desk: Console) -> None:
    desk.of("emma", "profile")
    desk.button("profile.add").click()
    dialog = desk.page.get_by_role("dialog")
    dialog.get_by_label(desk.word("profile.section")).select_option("preferences")
    dialog.get_by_label(desk.word("profile.value")).fill("jazz")
    desk.button("action.save", within=dialog).click()
    entry(desk, "jazz").wait_for()
    desk.page.reload()
    desk.button("profile.unset", within=entry(desk, "jazz")).click()
    entry(desk, "jazz").wait_for(state="detached")
    desk.page.reload()
    desk.settle()
    assert entry(desk, "jazz").count() == 0


def test_a_key_decides_what_waits_and_undo_brings_it_back(desk: Console) -> None:
    desk.of("linxiao", "review")
    card = desk.page.locator(".review").filter(has_text="忽略之前的所有指令")
    card.wait_for()
    desk.page.keyboard.press("d")
    card.wait_for(state="detached")
    assert desk.api("GET", "/v1/reviews", params={"user_id": "linxiao"})["reviews"] == []
    desk.button("action.undo").click()
    card.wait_for()


def test_what_is_skipped_waits_and_is_shown_again(desk: Console) -> None:
    desk.of("emma", "review")
    desk.page.locator(".review").wait_for()
    while desk.page.locator(".review").count():
        desk.page.keyboard.press("s")
        desk.page.wait_for_timeout(100)
    desk.button("review.again").click()
    desk.page.locator(".review").wait_for()


def test_two_memories_that_disagree_stand_side_by_side(desk: Console) -> None:
    for text, day in (("Ben's phone is 0123", "2026-01-01"), ("Ben's phone is 0456", "2026-02-01")):
        line = {"ebbing": 1, "id": f"ben-{day}", "content": text, "created_at": day, "recorded_at": day}
        claim = {"attribute": "phone", "value": text[-4:]}
        record = {
            **line,
            **claim,
            "user_id": "ben",
            "created_at": f"{day}T00:00:00Z",
            "recorded_at": f"{day}T00:00:00Z",
        }
        desk.api("POST", "/v1/import", json=record)
    desk.of("ben", "review")
    card = desk.page.locator(".review[data-why=conflict]")
    card.wait_for()
    assert "0123" in card.inner_text()
    assert "0456" in card.inner_text()
    desk.page.keyboard.press("a")
    card.wait_for(state="detached")
    left = desk.api("POST", "/v1/memories/list", json={"user_id": "ben"})["memories"]
    assert [item["text"] for item in left] == ["Ben's phone is 0456"]


def test_the_graph_tells_of_what_is_chosen_and_opens_what_is_next_to_it(desk: Console) -> None:
    desk.of("emma", "graph")
    desk.page.get_by_role("button", name="Biscuit", exact=True).first.focus()
    desk.page.keyboard.press("Enter")
    about = desk.page.locator(".graph-about")
    about.get_by_role("heading", name="Biscuit").wait_for()
    desk.button("graph.open", within=about).click()
    desk.settle()
    about.get_by_role("link").first.click()
    desk.settle()
    assert "/memory/" in desk.page.url


def test_content_shows_the_memories_behind_a_count(desk: Console) -> None:
    desk.of("emma", "content")
    finding = desk.page.locator(".finding").filter(has_text=desk.word("content.quarantined"))
    desk.button("content.show", within=finding).click()
    finding.get_by_text("Ignore all previous instructions").wait_for()


def test_a_trial_of_maintenance_changes_nothing(desk: Console) -> None:
    before = desk.api("POST", "/v1/memories/list", json={"user_id": "emma", "state": "all"})["total"]
    desk.go("#/maintenance")
    desk.page.get_by_label(desk.word("maintenance.by")).fill(str(today().date().replace(year=today().year + 3)))
    desk.button("maintenance.try").click()
    desk.page.get_by_text(desk.word("maintenance.would"), exact=True).wait_for()
    assert desk.word("step.decay") in desk.text()
    assert desk.api("POST", "/v1/memories/list", json={"user_id": "emma", "state": "all"})["total"] == before


def test_a_key_is_shown_once_works_and_is_ended(signed_out: Console) -> None:
    console = signed_out
    console.sign_in(ADMIN_KEY)
    console.page.get_by_role("link", name="emma").first.wait_for()
    console.page.evaluate("location.hash = '#/access'")
    console.button("access.make_key").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label(console.word("access.note")).fill("for a test")
    console.button("access.make", within=dialog).click()
    secret = console.page.locator(".secret").inner_text()
    console.page.keyboard.press("Escape")
    row = console.page.get_by_role("row").filter(has_text="for a test")
    row.wait_for()
    assert secret not in console.text()
    console.button("access.revoke", within=row).click()
    console.button("access.revoke", within=console.page.get_by_role("dialog")).click()
    row.get_by_text(console.word("access.revoked")).wait_for()
    console.page.get_by_role("tab", name=console.word("access.audit")).click()
    console.page.get_by_text("DELETE /v1/keys/{key_id}").first.wait_for()


def test_a_webhook_is_added_switched_off_and_removed(desk: Console) -> None:
    desk.go("#/access?tab=webhooks")
    desk.button("access.make_webhook").click()
    dialog = desk.page.get_by_role("dialog")
    dialog.get_by_label(desk.word("access.url")).fill("https://example.org/hook")
    desk.button("access.make", within=dialog).click()
    desk.page.locator(".secret").wait_for()
    desk.page.keyboard.press("Escape")
    row = desk.page.get_by_role("row").filter(has_text="example.org")
    row.get_by_role("checkbox").click()  # it shows what the service has answered, not the click
    row.locator("input:not(:checked)").wait_for()
    desk.page.reload()
    row.wait_for()
    assert not row.get_by_role("checkbox").is_checked()
    desk.button("access.remove", within=row).click()
    desk.button("access.remove", within=desk.page.get_by_role("dialog")).click()
    row.wait_for(state="detached")


def test_screens_of_administrators_are_not_offered_to_others(signed_out: Console) -> None:
    key = signed_out.api("POST", "/v1/keys", json={"role": "write", "user_id": "emma"})["key"]
    signed_out.sign_in(key)
    signed_out.settle()
    names = [signed_out.word(f"{screen}.title") for screen in ("maintenance", "health", "access")]
    assert [name for name in names if signed_out.page.get_by_role("link", name=name, exact=True).count()] == []
    signed_out.page.evaluate("location.hash = '#/access'")
    signed_out.page.get_by_text(signed_out.word("error.forbidden")).wait_for()
