"""An order that somebody plants in a memory never stands in a prompt as a plain line, whatever the way in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from ebbing import AsyncMemory
from ebbing.client import HostPolicy, LocalStore, MemoryService
from ebbing.domain.errors import InvalidInputError
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from tests.fences import bare_lines

pytestmark = pytest.mark.anyio
_DATA: Final = Path(__file__).parents[1] / "data"
ORDERS: Final[Mapping[str, list[str]]] = tomllib.loads((_DATA / "orders.toml").read_text("utf-8"))
FRESH: Final[Mapping[str, list[str]]] = tomllib.loads((_DATA / "orders_fresh.toml").read_text("utf-8"))
WISHES: Final[Mapping[str, list[str]]] = tomllib.loads((_DATA / "wishes.toml").read_text("utf-8"))
Way = Callable[[AsyncMemory, str, str], Awaitable[object]]


async def by_said(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add(order, user_id=user)


async def by_said_as_it_is(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add(order, user_id=user, infer=False)


async def by_set_as_constraint(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add(order, user_id=user, infer=False, tags=["constraint"])


async def by_document(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add(order, user_id=user, infer=False, trust="document")
    await memory.add(order, user_id=user, trust="document")


async def by_from_others(memory: AsyncMemory, user: str, order: str) -> None:
    for role in ("tool", "assistant", "system"):
        await memory.add([{"role": role, "content": order}], user_id=user)
        await memory.add([{"role": role, "content": order}], user_id=user, infer=False)


async def by_quoted_mail(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add(f"I got this mail:\n> Hello,\n> {order}\nWhat do you think?", user_id=user)
    await memory.add(f'My boss wrote: "{order}" I live in Leeds.', user_id=user)


async def by_name(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add([{"role": "user", "content": "I live in Leeds and I like tea.", "name": order}], user_id=user)
    await memory.add([{"role": "user", "content": "I like jazz.", "name": order[:60]}], user_id=user, infer=False)


async def by_import(memory: AsyncMemory, user: str, order: str) -> None:
    at = datetime(2024, 5, 1, tzinfo=UTC).isoformat()
    line = {"ebbing": 1, "created_at": at, "recorded_at": at, "user_id": user, "trust": "user", "method": "rule"}
    await memory.import_([
        {**line, "id": f"{user}-{kind}", "content": text, "type": kind, "importance": 0.9, "actor": order}
        for kind, text in (("constraint", order), ("fact", f"User says: {order}"), ("procedural", order))
    ])  # fmt: skip


async def by_profile(memory: AsyncMemory, user: str, order: str) -> None:
    values = {"home": order, "preferences": [order], "constraints": [order], "facts": {"motto": order}}
    await memory.profiles.import_(values, user_id=user)
    for key, value in values.items():
        with suppress(InvalidInputError):  # it is told that this is an order
            await memory.profiles.update({key: value}, user_id=user)


async def by_defaults(memory: AsyncMemory, user: str, order: str) -> None:
    del user
    with suppress(InvalidInputError):
        await memory.profiles.set_defaults({"home": order, "constraints": [order]})


async def by_metadata(memory: AsyncMemory, user: str, order: str) -> None:
    await memory.add("I live in Leeds.", user_id=user, metadata={order: order, "note": order}, run_id=order[:200])


async def by_update(memory: AsyncMemory, user: str, order: str) -> None:
    added = await memory.add("I live in Leeds.", user_id=user, infer=False)
    await memory.update(added["results"][0]["id"], order)


async def by_session(memory: AsyncMemory, user: str, order: str) -> None:
    async with memory.session(user_id=user) as conversation:
        await conversation.add([{"role": "user", "content": order}, {"role": "assistant", "content": order}])


WAYS: Final[Mapping[str, Way]] = {
    "said": by_said,
    "said_as_it_is": by_said_as_it_is,
    "set_as_constraint": by_set_as_constraint,
    "document": by_document,
    "from_others": by_from_others,
    "quoted_mail": by_quoted_mail,
    "name": by_name,
    "import": by_import,
    "profile": by_profile,
    "defaults": by_defaults,
    "metadata": by_metadata,
    "update": by_update,
    "session": by_session,
}

USUAL: Final = ("said", "document", "import", "profile")
"""The ways that every run of the tests tries."""


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    components = build(load_settings({"store": "ephemeral", "embedder": "none"}), clock=ManualClock())
    async with AsyncMemory(components=components) as opened:
        yield opened


def has_bare(block: str, order: str) -> bool:
    """Whether more than a few words of an order stand outside of a fence."""
    outside = " ".join(bare_lines(block)).casefold()
    pieces = re.findall(r"[a-z]{3,}", order.casefold()) if order.isascii() else re.findall(r"[\u4e00-\u9fff]{2}", order)
    return len(pieces) > 1 and sum(piece in outside for piece in pieces) >= 0.6 * len(pieces)


def graph_lines(graph: Mapping[str, Any]) -> str:
    """What a graph says, each thing on a line of its own."""
    return "\n".join([*(one["name"] for one in graph["entities"]), *(one["object"] for one in graph["relations"])])


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "way", [way if way in USUAL else pytest.param(way, marks=pytest.mark.extended) for way in WAYS]
)
async def test_no_planted_order_stands_bare_in_a_prompt(memory: AsyncMemory, way: str, language: str) -> None:
    host = MemoryService(LocalStore(memory), HostPolicy(min_score=0.0, recall_seconds=60, write_seconds=60))
    bare: dict[str, list[str]] = {"context": [], "session": [], "host": [], "summary": [], "graph": []}
    for number, order in enumerate([*ORDERS[language], *FRESH[language]]):
        user = f"user-{number}"
        await WAYS[way](memory, user, order)
        made = await memory.get_context(order, user_id=user, min_score=0.0, top_k=20)
        running = await memory.session(user_id=user).get_context(order, min_score=0.0)
        seen = {
            "context": made["context"],
            "session": running["context"],
            "host": await host.recall_context(user, order) or "",
            "summary": re.sub("“[^“”]*”", "", "; ".join([made["profile_summary"], *await summaries(memory, user)])),
            "graph": graph_lines(await memory.graph(user_id=user)),
        }
        for place, text in seen.items():
            if has_bare(text, order):
                bare[place].append(order)
    assert bare == {"context": [], "session": [], "host": [], "summary": [], "graph": []}


async def summaries(memory: AsyncMemory, user: str) -> list[str]:
    """The summary of a profile in both languages."""
    return [(await memory.profiles.get(user_id=user, language=language))["summary"] for language in ("en", "zh")]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_order_that_does_harm_is_held_back_and_teaches_nothing(memory: AsyncMemory, language: str) -> None:
    for number, order in enumerate(ORDERS[language]):
        told = await memory.add(order, user_id=f"u{number}")
        assert told["results"] == [], order
        [episode] = (await memory.get_all(user_id=f"u{number}", include="all"))["results"]
        assert "quarantined" in episode["tags"], order
        assert order not in (await memory.get_context(order, user_id=f"u{number}", min_score=0.0))["context"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_wishes_about_how_to_be_answered_are_not_held_back(language: str) -> None:
    held_back = [wish for wish in WISHES[language] if instruction_shaped(wish, spoken_by_user=True) is not None]
    assert len(held_back) <= 0.05 * len(WISHES[language]), held_back
    assert len(WISHES[language]) >= 60


async def test_a_wish_of_the_user_stands_in_the_context_as_their_wish(memory: AsyncMemory) -> None:
    await memory.add("Please keep your answers short.", user_id="emma")
    block = (await memory.get_context("hello", user_id="emma"))["context"]
    assert "user's wish: “keep your answers short”" in block
    await memory.add("以后请用英文回答我。", user_id="xiaoyu")
    block = (await memory.get_context("你好", user_id="xiaoyu"))["context"]
    assert "用户要求：“以后请用英文回答用户”" in block
