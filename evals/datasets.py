"""The development sets, read into one shape. Which parts of a set are stored and asked is decided here, once."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_MONTHS = {
    name: number
    for number, name in enumerate(
        "January February March April May June July August September October November December".split(), start=1
    )
}
_CHINESE_DATE = re.compile(r"(\d{4})年(\d{2})月(\d{2})日\D*(\d{2}):(\d{2})")
NEIGHBOURS = Path(__file__).parent / "data" / "neighbours.jsonl"
_NAMED_DATE = re.compile(r"([A-Z][a-z]+)-(\d{1,2})-(\d{4})")


@dataclass(frozen=True, slots=True)
class Item:
    """One stored message."""

    id: str
    user: str
    session: str
    text: str
    role: str = "user"
    name: str | None = None
    at: datetime | None = None
    key: str | None = None
    """Messages with one key state the same fact."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its evidence: each group is satisfied by any one of its item ids."""

    id: str
    user: str
    text: str
    category: str
    groups: tuple[frozenset[str], ...]
    asked_at: datetime | None = None
    newer: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is stored, what is asked, and which categories stay out of the headline."""

    name: str
    title: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    apart: frozenset[str] = field(default_factory=frozenset)

    @property
    def users(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(item.user for item in self.items))

    def of(self, user: str) -> tuple[list[Item], list[Question]]:
        """One user's items, in order, and questions."""
        return (
            [item for item in self.items if item.user == user],
            [question for question in self.questions if question.user == user],
        )

    def first_users(self, count: int) -> Dataset:
        """The same set with its first users only."""
        kept = set(self.users[:count])
        return replace(
            self,
            items=tuple(item for item in self.items if item.user in kept),
            questions=tuple(question for question in self.questions if question.user in kept),
        )


# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def chinese_date(text: str) -> datetime | None:
    """`2024年04月01日 周一 08:30`, taken as UTC."""
    found = _CHINESE_DATE.match(text)
    return datetime(*map(int, found.groups()), tzinfo=UTC) if found else None  # type: ignore[misc, arg-type]


def named_date(text: str) -> datetime | None:
    """`March-15-2024`, midnight UTC."""
    found = _NAMED_DATE.match(text)
    if not found:
        return None
    month, day, year = found.groups()
    return datetime(int(year), _MONTHS[month], int(day), tzinfo=UTC)


# ── LoCoMo ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def load_locomo(data: Path) -> Dataset:
    """Five conversations of two named people; "adversarial" questions stand apart (their evidence misleads)."""

    def item(row: dict[str, Any]) -> Item:
        return _item(row, name=row["speaker"], at=datetime.fromtimestamp(row["ts"], UTC))

    return Dataset(
        name="locomo",
        title="LoCoMo, cat. 1-4",
        items=_items(data / "locomo", item),
        questions=_questions(data / "locomo", lambda _: None),
        apart=frozenset({"adversarial"}),
    )


# ── MemDaily ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def load_memdaily(data: Path) -> Dataset:
    """The raw Chinese logs: every message with its own id, many of them repeating a fact."""
    return Dataset(
        name="memdaily-zh",
        title="MemDaily (Chinese), raw log",
        items=_items(data / "memdaily-zh", lambda row: _item(row, at=chinese_date(row["date"]))),
        questions=_questions(data / "memdaily-zh", chinese_date),
    )


def load_memdaily_dedup(data: Path) -> Dataset:
    """One message per fact: the first of each key (of each wording, where a message has no key)."""
    raw = load_memdaily(data)
    kept: dict[tuple[str, str], Item] = {}
    for item in raw.items:
        kept.setdefault((item.user, item.key or item.text), item)
    items = tuple(kept.values())
    return replace(
        raw,
        name="memdaily-zh-dedup",
        title="MemDaily, one message per fact",
        items=items,
        questions=_answerable(raw.questions, items),
    )


# ── BEAM ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def load_beam(data: Path) -> Dataset:
    """Only what the user said is stored; only evidence that the user said counts."""
    everything = load_beam_all(data)
    items = tuple(item for item in everything.items if item.role == "user")
    return replace(
        everything,
        name="beam-100k",
        title="BEAM-100K, user turns stored, user evidence",
        items=items,
        questions=_answerable(everything.questions, items),
    )


def load_beam_all(data: Path) -> Dataset:
    """Every message of user and assistant is stored; all evidence counts."""

    def item(row: dict[str, Any]) -> Item:
        day = named_date(row["date"])
        # The set dates sessions, not messages: `ts` counts the messages and keeps their order within the day.
        return _item(row, role=row["speaker"], at=day and day + timedelta(seconds=row["ts"]))

    return Dataset(
        name="beam-100k-all",
        title="BEAM-100K, every message stored, all evidence",
        items=_items(data / "beam-100k", item),
        questions=_questions(data / "beam-100k", lambda _: None),
    )


# ── entity neighbours ────────────────────────────────────────────────────────────────────────────────────────────────


def load_neighbours(_: Path) -> Dataset:
    """Invented people whose facts are told under one word ("my sister") and asked for under another (her name)."""
    rows = read_rows(NEIGHBOURS)
    items = tuple(
        Item(id=row["id"], user=row["user"], session=row["user"], text=row["text"]) for row in rows if "text" in row
    )
    questions = tuple(
        Question(
            id=row["id"],
            user=row["user"],
            text=row["question"],
            category=f"{row['category']}-{row['user'][:2]}",
            groups=tuple(frozenset([item]) for item in row["evidence"]),
        )
        for row in rows
        if "question" in row
    )
    return Dataset(name="neighbours", title="entity neighbours", items=items, questions=questions)


LOADERS: dict[str, Callable[[Path], Dataset]] = {
    "locomo": load_locomo,
    "memdaily-zh": load_memdaily,
    "memdaily-zh-dedup": load_memdaily_dedup,
    "beam-100k": load_beam,
    "beam-100k-all": load_beam_all,
    "neighbours": load_neighbours,
}


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a `.jsonl` or `.jsonl.gz` file."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    # Not splitlines(): JSON strings may hold other characters that it takes for line ends.
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _item(row: dict[str, Any], **more: Any) -> Item:
    return Item(
        id=row["id"], user=row["user"], session=row["session"], text=row["text"], key=row.get("key") or None, **more
    )


def _items(folder: Path, build: Callable[[dict[str, Any]], Item]) -> tuple[Item, ...]:
    rows = read_rows(folder / "items.jsonl.gz")
    return tuple(build(row) for row in sorted(rows, key=lambda row: (row["user"], row["order"])))


def _questions(folder: Path, when: Callable[[str], datetime | None]) -> tuple[Question, ...]:
    """Questions that have evidence; those without (nothing to find) cannot be scored by rank."""
    return tuple(
        Question(
            id=row["id"],
            user=row["user"],
            text=row["text"],
            category=row["category"],
            groups=tuple(frozenset(group) for group in row["groups"]),
            asked_at=when(row["date"]),
            newer=frozenset(row["newer"]),
            older=frozenset(row["older"]),
        )
        for row in read_rows(folder / "queries.jsonl.gz")
        if row["answerable"] and row["groups"]
    )


def _answerable(questions: Iterable[Question], items: Iterable[Item]) -> tuple[Question, ...]:
    """The questions with their groups cut down to the items at hand; what is left without a group is dropped."""
    stored = {(item.user, item.id) for item in items}
    kept = []
    for question in questions:
        present = (frozenset(name for name in group if (question.user, name) in stored) for group in question.groups)
        groups = tuple(group for group in present if group)
        if groups:
            kept.append(replace(question, groups=groups))
    return tuple(kept)
