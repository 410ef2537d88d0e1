"""The use of memories: how often each came back, and which of them an answer was made with."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Final

from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.numbers import figures
from ebbing.ports.stores.usage_log import Returned, UsageLog

# Counts of the memories that searches return: in RAM first, handed to the store in batches.

MAX_WAITING: Final = 100_000
"""Counts that wait, at most, while the store fails; what comes on top of them is not counted."""
_ANSWERS_AT_A_TIME: Final = 256
"""Answers that are added up before other tasks get their turn."""
_BATCH_SIZE: Final = 1_024
"""Counts that are handed over at a time."""
_RESTART_SECONDS: Final = 0.1
"""Seconds after which a hand-over that has not begun is started again."""

_log: Final = logging.getLogger("ebbing.usage")


class UsageBuffer:
    """Returned memories that are not counted in the store yet.

    They are handed over when `max_size` wait, `seconds` after the first of them, and at `flush`, which closing a memory
    calls. A process that is killed loses what waits: fewer than `max_size` counts and those of a batch under way, never
    older than `seconds` while its event loop runs. No memory and no feedback waits here.

    Args:
        log: where the counts go.
        max_size: returned memories in a batch; 0 counts nothing.
        seconds: how long the first of them waits.
    """

    def __init__(self, log: UsageLog, *, max_size: int = 8_192, seconds: float = 5.0) -> None:
        self._log, self._max_size, self._seconds = log, max_size, seconds
        self._answers: list[tuple[Scope, list[str], datetime]] = []
        """Answers, as they came: the hand-over adds them up, and no search does."""
        self._refused: dict[Owner, dict[str, tuple[int, datetime]]] = {}
        """What the store refused: owner to memory id to how often, and when last."""
        self._size = 0
        self._first_at = 0.0
        self._started_at = -_RESTART_SECONDS
        """When a hand-over was last started."""
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer_loop: asyncio.AbstractEventLoop | None = None
        """The loop with a timer that hands over what waits too long."""

    def returned(self, scope: Scope, memory_ids: Iterable[str], *, at: datetime) -> None:
        """Count memories that an answer held. Never fails. Call it on an event loop."""
        if not self._max_size:
            return
        loop, ids = asyncio.get_running_loop(), list(memory_ids)
        now = loop.time()
        with self._lock:
            del ids[max(0, MAX_WAITING - self._size) :]
            if not ids:
                return
            if not self._size:
                self._first_at = now
            self._answers.append((scope, ids, at))
            self._size += len(ids)
            is_due = self._size >= self._max_size or now - self._first_at >= self._seconds
            # A hand-over on another loop may be gone with its loop: after a while it is started again.
            is_start = is_due and now - self._started_at >= _RESTART_SECONDS
            if is_start:
                self._started_at = now
            needs_timer = not is_start and self._timer_loop is not loop
            if needs_timer:
                self._timer_loop = loop
        if is_start:
            self._start(loop)
        elif needs_timer:
            loop.call_later(self._seconds, self._look, loop)

    def forget(self, is_meant: Callable[[Owner], bool]) -> None:
        """Drop the counts of these owners that wait, uncounted."""
        with self._lock:
            self._answers = [answer for answer in self._answers if not is_meant(answer[0].owner)]
            self._refused = {owner: counts for owner, counts in self._refused.items() if not is_meant(owner)}
            waiting = sum(len(ids) for _, ids, _ in self._answers)
            self._size = waiting + sum(len(counts) for counts in self._refused.values())

    async def flush(self) -> None:
        """Hand over what waits, and return when that is done; what the store refuses waits for the next time."""
        await self._hand_over_all()
        loop = asyncio.get_running_loop()
        under_way = [task for task in self._tasks if task.get_loop() is loop]
        if under_way:
            await asyncio.wait(under_way)

    async def _hand_over_all(self) -> None:
        """Hand over what waits, in batches that a store may write as one."""
        tasks = []
        async for batch in self._batches():
            tasks.append(asyncio.create_task(self._hand_over(batch)))
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    async def _batches(self) -> AsyncIterator[list[Returned]]:
        with self._lock:
            refused, answers = self._refused, self._answers
            self._refused, self._answers, self._size = {}, [], 0
            self._started_at = -_RESTART_SECONDS
        answers.sort(key=itemgetter(2))
        counts: dict[Owner, _OwnerCounts] = {}
        for first in range(0, len(answers), _ANSWERS_AT_A_TIME):
            for scope, ids, at in answers[first : first + _ANSWERS_AT_A_TIME]:
                owner_counts = counts.setdefault(scope.owner, _OwnerCounts())
                owner_counts.times.update(ids)
                owner_counts.last_at.update(dict.fromkeys(ids, at))
            await asyncio.sleep(0)
        for owner, refused_counts in refused.items():
            counts.setdefault(owner, _OwnerCounts()).add_refused(refused_counts)
        returned = (
            Returned(owner, memory_id, times, owner_counts.last_at[memory_id])
            for owner, owner_counts in counts.items()
            for memory_id, times in owner_counts.times.items()
        )
        while batch := list(islice(returned, _BATCH_SIZE)):
            yield batch

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        task = loop.create_task(self._hand_over_all())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand over what has waited for long, and look again when the oldest of the rest has."""
        with self._lock:
            seconds_left = self._first_at + self._seconds - loop.time()
            is_done = not self._size or seconds_left <= 0
            if is_done:
                self._timer_loop = None
        if not is_done:
            loop.call_later(seconds_left, self._look, loop)
        elif self._size:
            self._start(loop)

    async def _hand_over(self, batch: list[Returned]) -> None:
        try:
            await self._log.returned(batch)
        except StoreError as error:
            _log.warning("recalled memories could not be counted (%s): they wait for the next time", error.code)
            with self._lock:
                self._first_at = asyncio.get_running_loop().time()
                for returned in batch[: MAX_WAITING - self._size]:
                    counts = self._refused.setdefault(returned.owner, {})
                    times, last_at = counts.get(returned.memory_id, (0, returned.last_at))
                    counts[returned.memory_id] = (times + returned.times, max(last_at, returned.last_at))
                    self._size += 1


@dataclass(slots=True)
class _OwnerCounts:
    """How often the memories of one owner were returned, and when last."""

    times: Counter[str] = field(default_factory=Counter)
    last_at: dict[str, datetime] = field(default_factory=dict)

    def add_refused(self, counts: dict[str, tuple[int, datetime]]) -> None:
        for memory_id, (times, at) in counts.items():
            self.times[memory_id] += times
            self.last_at[memory_id] = max(self.last_at.get(memory_id, at), at)


# Which of the recalled memories an answer was made with, judged by its words.

MAX_ANSWER: Final = 20_000
"""Characters of an answer that are read."""
SHARE: Final = 0.34
"""Part of the smaller of the two, by weight, that memory and answer must share: of what the memory says, or of what a
short answer says."""
SHARE_WITH_TELLING: Final = 0.2
"""The same, when they share a number or a name that neither the question nor another memory has."""
TELLING_WEIGHT: Final = 2.0
"""A number or a name counts so many times a word."""

_NAME: Final = re.compile(r"(?<![.!?:\n])[ (\"'“‘]([A-Z][\w'’-]+)")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _TextTerms:
    """What a text says: its words, and which of them are numbers or names."""

    words: frozenset[str]
    telling: frozenset[str]


def used_memories(answer: str, memories: Mapping[str, str], *, question: str = "") -> list[str]:
    """Ids of the memories that an answer says something of, in the order of `memories`; Chinese and English.

    A memory counts as used when the answer repeats enough of the words that set it apart: what the question says
    already, and what all the memories share, proves nothing. An answer that gives a memory's content in entirely
    other words is not recognised; `feedback` is there for that.

    Args:
        answer: what the assistant said; 20,000 characters of it are read.
        memories: id and text of what was recalled.
        question: what was asked, so that an answer that repeats it credits nothing for that.
    """
    answer_terms, question_terms = _read(answer[:MAX_ANSWER]), _read(question)
    memory_terms = {memory_id: _read(text) for memory_id, text in memories.items()}
    counts = Counter(word for terms in memory_terms.values() for word in terms.words)
    max_count = max(2, len(memory_terms) / 2)
    return [
        memory_id
        for memory_id, terms in memory_terms.items()
        if _is_used(terms, answer_terms, question=question_terms, counts=counts, max_count=max_count)
    ]


def _is_used(
    memory: _TextTerms, answer: _TextTerms, *, question: _TextTerms, counts: Counter[str], max_count: float
) -> bool:
    own = memory.words - question.words
    shared = {word for word in own & answer.words if counts[word] <= max_count}
    answer_weight = _weight(answer.words - question.words, answer, counts=counts)
    smaller = min(_weight(own, memory, counts=counts), answer_weight)
    if not shared or not smaller:
        return False
    share = _weight(shared, memory, counts=counts) / smaller
    is_telling = any(word in memory.telling and counts[word] == 1 for word in shared)
    return share >= (SHARE_WITH_TELLING if is_telling else SHARE)


def _weight(words: Collection[str], text: _TextTerms, *, counts: Counter[str]) -> float:
    """Return what words tell: less the more memories have them."""
    return sum((TELLING_WEIGHT if word in text.telling else 1.0) / max(counts[word], 1) for word in words)


def _read(text: str) -> _TextTerms:
    normal = normalise(text)
    numbers = figures(normal)
    names = frozenset(term for name in _NAME.findall(text) for term in query_terms(name))
    terms = query_terms(text)
    content = frozenset(terms)  # a pair of characters tells nothing if one of them alone is a stop word
    words = frozenset(term for term in terms if not _HAN.match(term) or (len(term) > 1 and content.issuperset(term)))
    return _TextTerms(words | numbers, numbers | names)
