"""The bundled conversation and the questions that are asked about it. The people in it are invented.

A day that somebody names stands in the file as `{2025-04-19}`, a month as `{2025-05}`. So the story can be told as of
another day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
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
AS_WRITTEN: Final = timedelta()
_DAY: Final = re.compile(r"\{(\d{4}-\d\d)(-\d\d)?\}")
QUESTIONS: Final = (
    Question("我妹妹什么时候结婚？", "linxiao", "Chinese, about a date"),
    Question("Where does Lin Xiao live now?", "linxiao", "asked in English, of a Chinese memory"),
    Question("豆包", "linxiao", "two characters, by keywords alone: no model at work", with_model=False),
    Question("Which food is dangerous for the little girl?", "emma", "English, in none of the words that were used"),
    Question("她的狗叫什么名字？", "emma", "asked in Chinese, of an English memory"),
)


@cache
def conversations(moved: timedelta = AS_WRITTEN) -> tuple[Conversation, ...]:
    """Return the conversations in the order in which they took place, each day that they name moved by whole days."""
    text = (files("ebbing.interfaces.cli.demo") / "conversation.jsonl").read_text("utf-8")
    messages = [json.loads(line) for line in text.splitlines()]
    talks = [
        Conversation(user, run, tuple(_message(message, moved) for message in group))
        for (user, run), group in groupby(messages, key=lambda message: (message["user_id"], message["run_id"]))
    ]
    return tuple(sorted(talks, key=lambda talk: talk.ended_at))


def until(now: datetime) -> timedelta:
    """Return by how many days the story is to be moved so that its last day is the day before `now`."""
    return timedelta(days=(now.date() - TODAY.date()).days)


def _message(line: dict[str, Any], moved: timedelta) -> Message:
    message = {key: value for key, value in line.items() if key not in {"user_id", "run_id"}}
    is_chinese = line["user_id"] == "linxiao"
    message["timestamp"] = (datetime.fromisoformat(line["timestamp"]) + moved).isoformat()
    message["content"] = _DAY.sub(lambda place: _named_day(place, moved, is_chinese=is_chinese), line["content"])
    return message


def _named_day(place: re.Match[str], moved: timedelta, *, is_chinese: bool) -> str:
    """Write a day or a month as people do."""
    month, day = place.groups()
    date_then = date.fromisoformat(month + (day or "-15")) + moved
    if is_chinese:
        return f"{date_then.month}月{date_then.day}日" if day else f"{date_then.month}月"
    ending = "th" if 11 <= date_then.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(date_then.day % 10, "th")
    return f"{date_then:%B} {date_then.day}{ending}"
