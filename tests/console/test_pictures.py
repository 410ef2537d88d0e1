"""Pictures of every screen for the documentation; `make console-pictures` writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.console.page import Console
from tests.console.screens import PERSON, SCREENS, Screen, open_screen

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = os.environ.get("EBBING_TEST_PICTURES")
"""Folder for the pictures; without it none are taken."""
SIZE = {"width": 1200, "height": 780}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(FOLDER is None, reason="no folder for pictures is named")]


QUESTIONS = {"en": "Where does she live?", "zh": "她住在哪里？"}
STILL = [screen for screen in SCREENS if screen.name != "ask"]
"""Screens that show something before anybody does anything."""
HOMES = {"en": "York", "zh": "徐汇区"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pictures_of_a_memory_and_of_an_answer_are_taken(browser: Browser, pictured: str, language: str) -> None:
    user, folder = PERSON[language], Path(FOLDER or "")
    with Console.opened(browser, pictured, language=language, size=SIZE) as console:
        body = {"user_id": user, "filters": {"text": {"contains": HOMES[language]}}}
        [memory, *_] = console.api("POST", "/v1/memories/list", json=body)["memories"]
        console.of(user, "memory", memory["id"])
        console.page.screenshot(path=folder / f"console-memory-{language}.png")
        console.go(f"#/of/user/{user}/ask?q={quote(QUESTIONS[language])}")
        console.page.locator(".hit").first.wait_for()
        console.page.screenshot(path=folder / f"console-ask-{language}.png")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "screen", [screen for screen in SCREENS if screen.name != "ask"], ids=lambda screen: screen.name
)
def test_a_picture_of_the_screen_is_taken(browser: Browser, pictured: str, screen: Screen, language: str) -> None:
    with Console.opened(browser, pictured, language=language, size=SIZE) as console:
        open_screen(console, screen)
        console.page.screenshot(path=Path(FOLDER or "") / f"console-{screen.name}-{language}.png")
