"""No string that anybody sends breaks the memory, keeps it busy, or makes it swell."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import AsyncMemory, Memory
from ebbing.domain.errors import EbbingError, TooLargeError
from ebbing.privacy.redaction.redact import redact
from ebbing.testing.models.embedder import FakeEmbedder
from tests.hostile import LONGEST, ONE_TOO_MANY, PIECES, hostile_strings

pytestmark = pytest.mark.extended

MOST_SECONDS = 1.0
"""Of processor time for one call, whatever else this machine is doing."""
MOST_GROWTH = 200 * 2**20
"""Bytes of RAM that ten thousand strings may leave behind, indexes and caches included."""
USERS = 40


class Trial:
    """Puts strings through everything that takes one, and keeps book of what came of it."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory
        self.refused: Counter[str] = Counter()
        self.slow: list[str] = []
        self.worst = 0.0

    async def put(self, number: int, text: str) -> None:
        """One string through add, search, redact and a session, as one of forty users."""
        memory, user = self._memory, f"user {number % USERS}"
        said = await self._timed(f"add {number}", memory.add(text, user_id=user))
        kept = await self._timed(f"keep {number}", memory.add(text, user_id=user, infer=False))
        found = await self._timed(f"search {number}", memory.search(text, user_id=user))
        made = await self._timed(f"context {number}", memory.get_context(text, user_id=user))
        session = memory.session(user_id=user, run_id=f"run {number % USERS}")
        await self._timed(f"session {number}", session.add(text))
        await self._timed(f"redact {number}", _redacted(text))
        for answer in (said, kept, found):
            for item in (answer or {}).get("results", ()):
                assert _can_be_kept(item["memory"])
        assert _can_be_kept((made or {}).get("context", ""))

    async def _timed(self, what: str, call: Awaitable[Any]) -> Any:
        begun = time.process_time()
        try:
            return await call
        except EbbingError as error:
            self.refused[error.code] += 1
            return None
        finally:
            took = time.process_time() - begun
            self.worst = max(self.worst, took)
            if took > MOST_SECONDS:
                self.slow.append(f"{what}: {took:.2f} s")


async def _redacted(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


def _can_be_kept(text: str) -> bool:
    """It is valid Unicode without NUL."""
    text.encode("utf-8")
    return "\x00" not in text


async def outcome(path: Path, strings: Sequence[str]) -> Trial:
    async with AsyncMemory(path, embedder=FakeEmbedder()) as memory:
        await memory.add("I like tea. 我住在北京，每天七点起床", user_id="warm")
        await memory.search("tea", user_id="warm")
        trial = Trial(memory)
        for number, text in enumerate(strings):
            await trial.put(number, text)
        assert await memory.maintenance.verify() == []
    return trial


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("count", "longest"), [(250, 5_000), pytest.param(10_000, LONGEST, marks=pytest.mark.slow)], ids=["few", "all"]
)
async def test_no_hostile_string_breaks_the_memory_or_keeps_it_busy(tmp_path: Path, count: int, longest: int) -> None:
    strings = hostile_strings(count, longest=longest)
    gc.collect()
    before = psutil.Process().memory_info().rss
    trial = await outcome(tmp_path, strings)
    gc.collect()
    grown = psutil.Process().memory_info().rss - before
    assert trial.slow == []
    assert grown < MOST_GROWTH
    # Blank strings are refused by their type; everything else is taken.
    assert set(trial.refused) == {"invalid_input"}
    assert trial.refused["invalid_input"] < count / 2


@pytest.mark.parametrize("text", ONE_TOO_MANY, ids=["latin", "chinese"])
def test_a_string_over_the_limit_is_refused_by_its_type(tmp_path: Path, text: str) -> None:
    with Memory(tmp_path, embedder=FakeEmbedder()) as memory:
        for infer in (True, False):
            with pytest.raises(TooLargeError):
                memory.add(text, user_id="ada", infer=infer)
        with memory.session(user_id="ada") as session, pytest.raises(TooLargeError):
            session.add(text)
        assert memory.maintenance.stats()["memories"] == 0


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("hostile"), embedder=FakeEmbedder()) as opened:
        yield opened


texts = st.one_of(st.text(max_size=400), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=texts, infer=st.booleans())
def test_whatever_text_is_sent_an_answer_or_a_typed_error_comes_back(memory: Memory, text: str, infer: bool) -> None:
    refused: list[str] = []
    for call in (
        lambda: memory.add(text, user_id="ada", infer=infer),
        lambda: memory.search(text, user_id="ada"),
    ):
        begun = time.process_time()
        try:
            answer = call()
        except EbbingError as error:
            refused.append(error.code)
        else:
            assert all(_can_be_kept(item["memory"]) for item in answer["results"])
        assert time.process_time() - begun < MOST_SECONDS
    assert set(refused) <= {"invalid_input"}
