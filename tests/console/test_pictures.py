"""Pictures of every screen for the documentation; `make console-pictures` writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console.page import Console
from tests.console.screens import SCREENS, Screen, open_screen

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = os.environ.get("EBBING_TEST_PICTURES")
"""Folder for the pictures; without it none are taken."""
SIZE = {"width": 1200, "height": 780}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(FOLDER is None, reason="no folder for pictures is named")]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_a_picture_of_the_screen_is_taken(browser: Browser, pictured: str, screen: Screen, language: str) -> None:
    with Console.opened(browser, pictured, language=language, size=SIZE) as console:
        open_screen(console, screen)
        console.page.screenshot(path=Path(FOLDER or "") / f"console-{screen.name}-{language}.png")
