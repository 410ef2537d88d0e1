"""A browser, and services with people in them, for the tests of the console."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console.page import ADMIN_KEY, Console
from tests.console.seed import seed, seed_hostile, seed_many, today
from tests.live_service import served
from tests.registry_clients import REQUIRED

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = os.environ.get("EBBING_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WITHOUT_MODEL = {"EBBING_EMBEDDER": "none", "EBBING_WORKER": "false"}
MANY = 10_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window; skip where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: the console is not tried")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("playwright is not installed") if REQUIRED else pytest.skip("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that asks for no key, with two people, somebody of whom much is known, and hostile texts."""
    path = tmp_path_factory.mktemp("console") / "store"
    seed(path, today())
    seed_many(path, today(), memories=MANY)
    seed_hostile(path)
    with served(path, settings=WITHOUT_MODEL) as service:
        yield service.address


@pytest.fixture(scope="session")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that asks for no key, with two people alone."""
    path = tmp_path_factory.mktemp("pictured") / "store"
    seed(path, today())
    with served(path, settings=WITHOUT_MODEL) as service:
        yield service.address


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that asks for a key, with two people."""
    path: Path = tmp_path_factory.mktemp("guarded") / "store"
    seed(path, today())
    with served(path, settings={**WITHOUT_MODEL, "EBBING_SERVICE_API_KEY": ADMIN_KEY}) as service:
        yield service.address


@pytest.fixture
def console(browser: Browser, address: str) -> Iterator[Console]:
    """The console in English, in a window of usual size."""
    with Console.opened(browser, address) as console:
        yield console


@pytest.fixture
def signed_out(browser: Browser, guarded: str) -> Iterator[Console]:
    """The console of the service that asks for a key."""
    with Console.opened(browser, guarded) as console:
        yield console
