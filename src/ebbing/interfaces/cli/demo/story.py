"""The bundled conversation and the questions that are asked about it. The people in it are invented."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One sitting of one person with the assistant."""

    user_id: str
    run_id: str
    messages: tuple[Message, ...]

    @property
    def ended_at(self) -> datetime:
        """The time of its last message."""
        return datetime.fromisoformat(self.messages[-1]["timestamp"])


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of whose memory, and what makes it interesting."""

    text: str
    user_id: str
    note: str
    with_model: bool = True
    """False answers it by keywords alone, with no model loaded."""


PEOPLE: Final[Mapping[str, str]] = {"linxiao": "林晓", "emma": "Emma"}
TODAY: Final = datetime(2025, 5, 25, 12, 0, tzinfo=UTC)
"""When the questions are asked: the day after the last conversation."""
QUESTIONS: Final = (
    Question("我妹妹什么时候结婚？", "linxiao", "Chinese, about a date"),
    Question("Where does Lin Xiao live now?", "linxiao", "asked in English, of a Chinese memory"),
    Question("豆包", "linxiao", "two characters, by keywords alone: no model at work", with_model=False),
    Question("Which food is dangerous for the little girl?", "emma", "English, in none of the words that were used"),
    Question("她的狗叫什么名字？", "emma", "asked in Chinese, of an English memory"),
)


@cache
def conversations() -> tuple[Conversation, ...]:
    """The conversations in the order in which they took place."""
    text = (files("ebbing.interfaces.cli.demo") / "conversation.jsonl").read_text("utf-8")
    messages = [json.loads(line) for line in text.splitlines()]
    talks = [
        Conversation(user, run, tuple(map(_message, group)))
        for (user, run), group in groupby(messages, key=lambda one: (one["user_id"], one["run_id"]))
    ]
    return tuple(sorted(talks, key=lambda one: one.ended_at))


def _message(line: dict[str, Any]) -> Message:
    return {key: value for key, value in line.items() if key not in {"user_id", "run_id"}}
