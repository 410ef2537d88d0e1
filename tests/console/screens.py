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
    Screen("ask", "ask.title"),
)


def open_screen(console: Console, screen: Screen) -> None:
    """Open a screen, of the person who speaks the language of the page."""
    if not screen.is_of_person:
        console.go(f"#/{screen.name}")
        return
    console.of(PERSON[console.language], screen.name)
