"""The console in a browser, as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from tests.registry_clients import node_with

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Response

ADMIN_KEY = "for-administration"
WORDS = Path(__file__).parents[2] / "console" / "src" / "i18n"
AXE = "axe-core@4.10.3"
WAIT_MILLISECONDS = 15_000
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 860}
SERIOUS = {"serious", "critical"}


@dataclass
class Answer:
    """One answer of the service to the page."""

    path: str
    status: int
    size: int
    """Bytes of the body as it was sent."""


@dataclass
class Console:
    """The console in one tab."""

    page: Page
    address: str
    language: str
    errors: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    """Addresses of other hosts that the page asked."""

    @classmethod
    @contextmanager
    def opened(
        cls,
        browser: Browser,
        address: str,
        *,
        language: str = "en",
        size: dict[str, int] | None = None,
        dark: bool = False,
    ) -> Iterator[Console]:
        """Open the console; no error of the page may be left at the end."""
        context = browser.new_context(
            locale="zh-CN" if language == "zh" else "en-GB",
            viewport=size or DESK,
            color_scheme="dark" if dark else "light",
            timezone_id="UTC",
            reduced_motion="reduce",
        )
        context.set_default_timeout(WAIT_MILLISECONDS)
        page = context.new_page()
        console = cls(page, address, language)
        page.on("pageerror", lambda error: console.errors.append(str(error)))
        page.on("console", console.note)
        page.on("request", lambda request: console.check_host(request.url))
        page.on("response", console.keep)
        try:
            console.go("#/people")
            yield console
            assert console.errors == []
            assert console.strangers == []
        finally:
            context.close()

    def note(self, message: Any) -> None:
        """Keep what the browser complains of, but for requests that the service refused or did not answer."""
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def keep(self, answer: Response) -> None:
        """Keep the path, status and length of an answer."""
        path = answer.url.removeprefix(self.address)
        self.answers.append(Answer(path, answer.status, int(answer.headers.get("content-length", 0))))

    def check_host(self, url: str) -> None:
        """Keep the address of another host."""
        if not url.startswith((self.address, "data:", "blob:")):
            self.strangers.append(url)

    def go(self, place: str) -> None:
        """Open a place of the console, anew."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}/{place}")
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is loading."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_function("() => !document.querySelector('.loading')")

    def of(self, user: str, screen: str = "memories", *rest: str) -> None:
        """Open a screen of somebody."""
        parts = "/".join(quote(part, safe="") for part in ("user", user, screen, *rest))
        self.go(f"#/of/{parts}")

    def word(self, key: str, **values: object) -> str:
        """Return the console's words of a key, in the language of the page."""
        text: str = json.loads((WORDS / f"{self.language}.json").read_text("utf-8"))[key]
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def button(self, key: str, *, within: Locator | None = None) -> Locator:
        """Return the button with these words."""
        return (within or self.page).get_by_role("button", name=self.word(key), exact=True).first

    def text(self) -> str:
        """Return what can be read on the page."""
        return self.page.locator("body").inner_text()

    def sign_in(self, key: str) -> None:
        """Type a key and send it."""
        self.page.get_by_label(self.word("signin.key")).fill(key)
        self.button("signin.enter").click()

    def rows(self) -> Locator:
        """Return the memories of a list."""
        return self.page.locator(".memory")

    def serious_problems(self) -> list[str]:
        """Return what axe finds serious or worse, by rule and place."""
        self.page.evaluate((node_with("axe-core", AXE) / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
        result = self.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{problem['id']}: {node['target']} {node.get('failureSummary', '')[:200]}"
            for problem in result["violations"]
            if problem["impact"] in SERIOUS
            for node in problem["nodes"]
        ]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        width: int = self.page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        return width

    def api(self, method: str, path: str, **options: Any) -> Any:
        """Ask the service what it says itself."""
        headers = {"Authorization": f"Bearer {ADMIN_KEY}"}
        answer = httpx.request(method, f"{self.address}{path}", headers=headers, timeout=30, **options)
        answer.raise_for_status()
        return answer.json()
