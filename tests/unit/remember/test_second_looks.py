"""Whether a message asks to stay off the record: where its words leave it open, its meaning decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.memory import AsyncMemory
from ebbing.privacy.guarding.off_record import Request
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.intake.second_looks import requests_in
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

OPEN = "i take viagra, im 29, embarrassing i know. dnt rember this one. does grapefruit mess with it"
PLAIN = "we eat at seven"
SURE = "My PIN is 4711, don't remember this"


class Judge:
    """Says the same of every message, and notes how many it was asked about."""

    model_id = "fake-64"

    def __init__(self, probability: float) -> None:
        self._probability, self.judged = probability, 0

    def judge(self, by_words: Sequence[float], vectors: Sequence[NDArray[np.float32]]) -> list[float]:
        self.judged += len(vectors)
        return [self._probability for _ in by_words]


class BrokenEmbedder(FakeEmbedder):
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingError("out of order")


async def asked(judge: Judge, *texts: str, embedder: FakeEmbedder | None = None) -> dict[str, Request | None]:
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    components = build(settings, clock=ManualClock())
    deps = AddDeps(components.store, embedder or FakeEmbedder(), components.clock, components.ids)
    deps = replace(deps, off_record=judge)

    async def load() -> AddDeps:
        return deps

    return dict(await requests_in([Message(text) for text in texts], load=load))


@pytest.mark.anyio
@pytest.mark.parametrize(("probability", "request_"), [(0.99, Request()), (0.1, None)])
async def test_the_meaning_decides_what_the_words_leave_open(probability: float, request_: Request | None) -> None:
    judge = Judge(probability)
    assert await asked(judge, OPEN, PLAIN, SURE) == {OPEN: request_, PLAIN: None, SURE: Request()}
    assert judge.judged == 1, "what its words decide is not looked at"


@pytest.mark.anyio
async def test_where_the_meaning_cannot_be_looked_at_the_words_decide() -> None:
    judge = Judge(0.99)
    assert await asked(judge, OPEN, SURE, embedder=BrokenEmbedder()) == {OPEN: None, SURE: Request()}
    assert judge.judged == 0


@pytest.mark.anyio
async def test_only_what_users_say_may_ask() -> None:
    async def load() -> AddDeps:
        raise AssertionError("nothing is open")

    assert await requests_in([Message(SURE, Role.ASSISTANT), Message(SURE, Role.SYSTEM)], load=load) == {}


@pytest.mark.anyio
@pytest.mark.parametrize("infer", [True, False])
async def test_nothing_of_a_message_is_stored_that_asks_in_words_that_no_rule_knows(infer: bool) -> None:
    settings = load_settings({"store": "ephemeral", "embedder": "e5"})
    async with AsyncMemory(components=build(settings, clock=ManualClock())) as memory:
        answer = await memory.add([{"role": "user", "content": OPEN}], user_id="ann", infer=infer)
        assert answer["episode_ids"] == []
        assert (await memory.get_all(user_id="ann", include="all"))["results"] == []
        assert (await memory.add(PLAIN, user_id="ann", infer=infer))["results"] is not None
