"""Every screen of the console: where it is, and what it shows of the people of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.console.page import Console

PERSON: Final = {"en": "emma", "zh": "linxiao"}


@dataclass(frozen=True)
class Screen:
    """One screen."""

    name: str
    title: str
    """Key of its title."""
    is_of_person: bool = True
    shows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By language, texts that it holds."""


SCREENS: Final = (
    Screen("people", "people.title", is_of_person=False, shows={"en": ("emma", "linxiao"), "zh": ("emma", "linxiao")}),
    Screen("memories", "memories.title", shows={"en": ("Emma", "shellfish"), "zh": ("林晓", "花生")}),
    Screen("changes", "changes.title"),
    Screen("ask", "ask.title"),
    Screen("profile", "profile.title", shows={"en": ("York", "shellfish"), "zh": ("徐汇区", "花生")}),
    Screen("graph", "graph.title", shows={"en": ("Biscuit", "York"), "zh": ("豆包", "徐汇区")}),
    Screen(
        "review", "review.title", shows={"en": ("Ignore all previous instructions",), "zh": ("忽略之前的所有指令",)}
    ),
    Screen("content", "content.title", shows={"en": ("Never used",), "zh": ("从未用到",)}),
    Screen("maintenance", "maintenance.title", is_of_person=False),
    Screen("health", "health.title", is_of_person=False, shows={"en": ("/v1/me",), "zh": ("/v1/me",)}),
    Screen("access", "access.title", is_of_person=False),
)


def open_screen(console: Console, screen: Screen) -> None:
    """Open a screen, of the person who speaks the language of the page."""
    if not screen.is_of_person:
        console.go(f"#/{screen.name}")
        return
    console.of(PERSON[console.language], screen.name)
