"""Taking in the messages and records of a file, some at a time, so that it can be stopped and repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.session import Session
from ebbing.remember.intake.parse_messages import is_blank, omitted_parts
from ebbing.transfer.imported_turn import Exported, Read, Turn, Unreadable

AT_ONCE: Final = 32
"""Messages or records that are stored together: one transaction, one call of the embedder."""

Key = tuple[str | None, str | None, str]
"""Agent, run and id of a message."""


@dataclass(slots=True)
class Report:
    """What became of a file."""

    messages: int = 0
    """Messages that are stored now."""
    memories: int = 0
    """Memories that were read from them."""
    records: int = 0
    """Exported records that are stored now."""
    already_stored: int = 0
    """Messages and records that were here already."""
    omitted: Counter[str] = field(default_factory=Counter)
    """Parts of messages that are no text, by kind."""
    bad: list[Unreadable] = field(default_factory=list)
    is_stopped: bool = False
    """Ctrl-C ended it before the end of the file."""
    change_ids: list[str] = field(default_factory=list)
    """What takes back all of it: one for each owner."""

    @property
    def stored(self) -> int:
        """Messages and records together."""
        return self.messages + self.records

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "messages": self.messages,
            "memories": self.memories,
            "records": self.records,
            "already_stored": self.already_stored,
            **({"omitted_parts": dict(self.omitted)} if self.omitted else {}),
            **({"stopped": True} if self.is_stopped else {}),
            "change_ids": self.change_ids,
            "bad_lines": [{"line": item.line, "reason": item.reason} for item in self.bad],
        }


class Intake:
    """Stores what a reader gives, and counts."""

    def __init__(self, session: Session, *, infer: bool) -> None:
        self.report = Report()
        self._session = session
        self._infer = infer
        self._changes: dict[str | None, str] = {}
        """Per owner, the change that everything of this run belongs to."""
        self._stored: dict[str, set[Key]] = {}
        """Per user, the messages that are here already."""

    def take(self, items: Iterable[Read]) -> None:
        """Takes everything in, in order. What a stopped run has stored is skipped by the next.

        Raises:
            MissingOwnerError: neither the command nor the file says whose a message is.
            StoreError: it could not be stored; what came before is.
        """
        for batch in _batches(items):
            first = batch[0]
            if isinstance(first, Turn):
                self._take_turns([item for item in batch if isinstance(item, Turn)])
            elif isinstance(first, Exported):
                self._take_records([item for item in batch if isinstance(item, Exported)])
            else:
                self.report.bad += [item for item in batch if isinstance(item, Unreadable)]

    def _take_turns(self, turns: Sequence[Turn]) -> None:
        turns = [turn for turn in turns if not self._is_without_words(turn)]
        if not turns:
            return
        owner = self._session.owner_ids(turns[0].owner_ids)
        stored = self._stored_messages(owner["user_id"])
        fresh = [turn for turn in turns if (owner["agent_id"], owner["run_id"], turn.message["id"]) not in stored]
        self.report.already_stored += len(turns) - len(fresh)
        if not fresh:
            return
        try:
            self._add(fresh, owner)
        except InvalidInputError as error:
            if len(fresh) == 1:
                self.report.bad.append(Unreadable(fresh[0].line, str(error)))
                return
            for turn in fresh:
                self._take_turns([turn])

    def _is_without_words(self, turn: Turn) -> bool:
        """Whether there is nothing to store of a message; what it holds in place of text is counted."""
        try:
            blank = is_blank(turn.message)
        except InvalidInputError:
            return False  # storing it says what is wrong
        if blank:
            self._count_omitted([turn.message])
        return blank

    def _count_omitted(self, messages: Sequence[Mapping[str, Any]]) -> None:
        for message in omitted_parts(messages):
            self.report.omitted.update(message["parts"])

    def _add(self, turns: Sequence[Turn], owner_ids: dict[str, Any]) -> None:
        messages = [turn.message for turn in turns]
        metadata = dict(turns[0].metadata)
        owner = owner_ids["user_id"] or owner_ids["agent_id"] or owner_ids["run_id"]
        begun = self._changes.get(owner)
        done = self._session.memory.add(messages, **owner_ids, metadata=metadata, infer=self._infer, change_id=begun)
        if done["change_id"] is not None:
            self._changes[owner] = done["change_id"]
            self._name(done["change_id"])
        self.report.messages += len(turns)
        self._count_omitted(messages)
        if self._infer:
            self.report.memories += sum(result["event"] == "ADD" for result in done["results"])

    def _take_records(self, records: Sequence[Exported]) -> None:
        lines = [record.record for record in records]
        begun = self.report.change_ids
        done = self._session.memory.import_(lines, user_id=self._session.named_user, change_ids=begun)
        for change_id in done["change_ids"]:
            self._name(change_id)
        self.report.records += done["imported"]
        self.report.already_stored += done["already_stored"]
        for refused in done["refused"]:
            self.report.bad.append(Unreadable(records[refused["record"]].line, refused["reason"]))

    def _name(self, change_id: str) -> None:
        if change_id not in self.report.change_ids:
            self.report.change_ids.append(change_id)

    def _stored_messages(self, user: str | None) -> set[Key]:
        """The messages that a user has, deleted ones too: what was forgotten on purpose does not come back."""
        if user is None:
            return set()  # the store itself skips a message that it has
        if user not in self._stored:
            keys = self._stored[user] = set()
            for record in _everything(self._session, user):
                if record["kind"] == "episode" or record["method"] == "raw":
                    place = record.get("agent_id"), record.get("run_id")
                    keys.update((*place, source) for source in record.get("source_ids", ()))
        return self._stored[user]


def _batches(items: Iterable[Read]) -> Iterator[list[Read]]:
    """Neighbours that can be stored by one call."""
    for _, alike in groupby(items, key=_call):
        while batch := list(islice(alike, AT_ONCE)):
            yield batch


def _call(item: Read) -> tuple[Any, ...]:
    if isinstance(item, Turn):
        return (Turn, dict(item.owner_ids), dict(item.metadata))
    return (type(item),)


def _everything(session: Session, user: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        page = session.memory.export(user_id=user, cursor=cursor)
        yield from page["records"]
        cursor = page["next_cursor"]
        if cursor is None:
            return
