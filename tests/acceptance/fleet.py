"""Replicas of `ebbing serve` on one database, and clients that go to the next replica where one fails."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final, Self

import httpx

from tests.live_service import Served, served

MOST_TRIES: Final = 40
WAITS: Final = {409: "idempotency_in_progress", 503: None}
"""Answers after which a request is repeated where they say when, and the code that they must have."""
SENTENCE_WORDS: Final = 12
WRITERS: Final = 24
FRESH_ROUNDS: Final = 25
"""After so many rounds somebody else is written about, so that lists stay short."""


@contextmanager
def fleet(count: int, *, folder: Path, settings: Mapping[str, str]) -> Iterator[list[Served]]:
    """Replicas that are started at the same time; what they log is in files of the folder."""

    def start(number: int) -> Served:
        log = folder / f"replica-{number}.log"
        return stack.enter_context(served(folder / "unused", settings=settings, log=log))

    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        yield list(pool.map(start, range(count)))


@dataclass
class Experience:
    """What clients went through."""

    requests: int = 0
    repeated: Counter[str] = field(default_factory=Counter)
    """By reason, requests that were sent once more: `lost` for a connection that broke, else the answer's code."""
    most_lost: int = 0
    """Of one request: how often its connection broke."""
    slowest_seconds: float = 0.0


class Client:
    """Somebody with a list of replicas, who stays with one as long as it answers."""

    def __init__(self, replicas: Sequence[str], *, first: int, experience: Experience) -> None:
        self._replicas, self._at = replicas, first % len(replicas)
        self._experience = experience
        self.was_repeated = False
        """Whether the last request was sent more than once."""
        self._http = httpx.AsyncClient(timeout=60, verify=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def call(self, method: str, path: str, *, key: str | None = None, **more: Any) -> httpx.Response:
        """Return the answer to a request, which is repeated at the next replica, or when an answer says so.

        Args:
            key: under which it is done once, however often it is sent.
        """
        began, lost = monotonic(), 0
        headers = {} if key is None else {"idempotency-key": key}
        for attempt in range(MOST_TRIES):
            self.was_repeated = attempt > 0
            try:
                answer = await self._http.request(method, self._replicas[self._at] + path, headers=headers, **more)
            except httpx.TransportError:
                self._experience.repeated["lost"] += 1
                lost += 1
                self._at = (self._at + 1) % len(self._replicas)
                continue
            if not is_to_be_repeated(answer):
                self._note(lost, monotonic() - began)
                return answer
            self._experience.repeated[answer.json()["code"]] += 1
            await asyncio.sleep(float(answer.headers["retry-after"]))
        raise AssertionError(f"no answer after {MOST_TRIES} tries: {self._experience}")

    def _note(self, lost: int, seconds: float) -> None:
        self._experience.requests += 1
        self._experience.most_lost = max(self._experience.most_lost, lost)
        self._experience.slowest_seconds = max(self._experience.slowest_seconds, seconds)


def is_to_be_repeated(answer: httpx.Response) -> bool:
    """Whether an answer says when to come back."""
    if answer.status_code not in WAITS or "retry-after" not in answer.headers:
        return False
    return WAITS[answer.status_code] in {None, answer.json()["code"]}


@dataclass
class Visitor:
    """A client of one person, who remembers what was acknowledged."""

    user: str
    client: Client
    chance: Random
    stored: dict[str, str] = field(default_factory=dict)
    """By id what was added or put in its place."""
    deleted: set[str] = field(default_factory=set)

    async def step(self) -> None:
        """Do something, mostly search and add."""
        act = self.chance.choices((self.add, self.search, self.read, self.update, self.delete), (35, 40, 10, 10, 5))[0]
        if not self.stored:
            act = self.add
        await act()

    async def add(self) -> None:
        """Store a sentence, once."""
        text = sentence(self.chance)
        body = {"user_id": self.user, "text": text}
        answer = await self.client.call("POST", "/v1/memories", key=uuid.uuid4().hex, json=body)
        self.stored[expected(answer)["id"]] = text

    async def search(self) -> None:
        """Look for a sentence by four of its words."""
        memory_id = self.any_id()
        words = self.stored[memory_id].split()[:4]
        body = {"user_id": self.user, "query": " ".join(words), "limit": 10}
        answer = await self.client.call("POST", "/v1/memories/search", json=body)
        assert memory_id in ids_in(answer), f"{memory_id} is not found by its words"

    async def read(self) -> None:
        """Read a sentence by its id, or all that is there."""
        memory_id = self.any_id()
        if self.chance.random() < 0.5:
            answer = await self.client.call("GET", f"/v1/memories/{memory_id}")
            assert expected(answer)["text"] == self.stored[memory_id]
        else:
            parameters = {"user_id": self.user, "limit": 1_000}
            assert memory_id in ids_in(await self.client.call("GET", "/v1/memories", params=parameters))

    async def update(self) -> None:
        """Put another sentence in the place of one."""
        memory_id, text = self.any_id(), sentence(self.chance)
        path, key = f"/v1/memories/{memory_id}", uuid.uuid4().hex
        expected(await self.client.call("PUT", path, key=key, json={"text": text}))
        self.stored[memory_id] = text

    async def delete(self) -> None:
        """Delete a sentence."""
        memory_id = self.any_id()
        answer = await self.client.call("DELETE", f"/v1/memories/{memory_id}", key=uuid.uuid4().hex)
        is_gone = self.client.was_repeated and answer.status_code == httpx.codes.NOT_FOUND
        assert is_gone or expected(answer)["deleted"]
        del self.stored[memory_id]
        self.deleted.add(memory_id)

    def any_id(self) -> str:
        """Return the id of something that is there."""
        return self.chance.choice(list(self.stored))


@dataclass
class Crowd:
    """Clients at once, two of them for each person, spread over the replicas."""

    replicas: Sequence[str]
    clients: int
    name: str
    """Of its own among all crowds of one database."""
    experience: Experience = field(default_factory=Experience)
    visitors: list[Visitor] = field(default_factory=list)

    async def visit(self, seconds: float, *, upkeep: bool = False) -> None:
        """Have everybody act until the time is over, beside rounds of upkeep if these are wanted."""
        end = monotonic() + seconds
        async with asyncio.TaskGroup() as tasks:
            for number in range(self.clients):
                tasks.create_task(self._act(number, end))
            if upkeep:
                tasks.create_task(self._look_after_all(end))

    async def _act(self, number: int, end: float) -> None:
        async with Client(self.replicas, first=number, experience=self.experience) as client:
            visitor = Visitor(f"{self.name}-{number // 2}", client, Random(f"{self.name} {number}"))
            self.visitors.append(visitor)
            while monotonic() < end:
                await visitor.step()

    async def _look_after_all(self, end: float) -> None:
        """Run the daily round for everybody, through one replica after the other."""
        number = 0
        while monotonic() < end:
            async with Client(self.replicas, first=number, experience=self.experience) as client:
                expected(await client.call("POST", "/v1/maintenance/runs", json={}))
            number += 1
            await asyncio.sleep(0.5)

    async def check(self, address: str) -> int:
        """Compare what a replica has with what was acknowledged, word for word; the number of memories.

        Raises:
            AssertionError: something is lost, doubled or back.
        """
        limit = httpx.Limits(max_connections=8)
        async with httpx.AsyncClient(base_url=address, timeout=60, limits=limit) as http:
            users = sorted({visitor.user for visitor in self.visitors})
            async with asyncio.TaskGroup() as tasks:
                checks = [tasks.create_task(self._check_user(http, user)) for user in users]
        return sum(check.result() for check in checks)

    async def _check_user(self, http: httpx.AsyncClient, user: str) -> int:
        mine = [visitor for visitor in self.visitors if visitor.user == user]
        stored = {memory_id: text for visitor in mine for memory_id, text in visitor.stored.items()}
        listed = await all_memories(http, user)
        assert listed == stored
        for memory_id, text in stored.items():
            answer = await http.get(f"/v1/memories/{memory_id}")
            assert answer.json()["text"] == text
        for memory_id in set().union(*(visitor.deleted for visitor in mine)):
            assert (await http.get(f"/v1/memories/{memory_id}")).status_code == 404
        return len(stored)


def sentence(chance: Random) -> str:
    """Return words that nobody else has."""
    return " ".join(f"w{chance.getrandbits(40):x}" for _ in range(SENTENCE_WORDS))


async def all_memories(http: httpx.AsyncClient, user: str) -> dict[str, str]:
    """Return all that is listed of somebody, text by id, without the summaries that a round of upkeep adds."""
    found: dict[str, str] = {}
    cursor: str | None = ""
    while cursor is not None:
        parameters = {"user_id": user, "limit": "1000", **({"cursor": cursor} if cursor else {})}
        page = expected(await http.get("/v1/memories", params=parameters))
        found.update((item["id"], item["text"]) for item in page["memories"] if "summary" not in item["tags"])
        cursor = page["next_cursor"]
    return found


def expected(answer: httpx.Response) -> dict[str, Any]:
    """Return the body of an answer that says that it was done."""
    assert answer.is_success, f"{answer.status_code} {answer.text}"
    body: dict[str, Any] = json.loads(answer.content)
    return body


def ids_in(answer: httpx.Response) -> set[str]:
    """Return the ids of the memories in an answer."""
    return {item["id"] for item in expected(answer)["memories"]}


async def agree(replicas: Sequence[str], *, rounds: int, name: str) -> Counter[str]:
    """Write through one replica and look through another at once, again and again; how often each write was made.

    Several people are written about at the same time.

    Raises:
        AssertionError: the other replica did not have what was acknowledged.
    """
    counts: Counter[str] = Counter()
    async with asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            mine = len(range(number, rounds, WRITERS))
            tasks.create_task(_write_and_look(replicas, rounds=mine, name=f"{name}-{number}", counts=counts))
    return counts


async def _write_and_look(replicas: Sequence[str], *, rounds: int, name: str, counts: Counter[str]) -> None:
    chance, texts = Random(name), dict[str, str]()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx.AsyncClient(base_url=it, timeout=60)) for it in replicas]
        for number in range(rounds):
            if number % FRESH_ROUNDS == 0:
                user, texts = f"{name}-{number}", {}
            writer, reader = chance.sample(clients, 2)
            act = chance.choice(("add", "add", "update", "delete")) if texts else "add"
            memory_id, text = await _write(writer, act, user=user, texts=texts, chance=chance)
            await _look(reader, user=user, texts=texts, memory_id=memory_id, text=text)
            counts[act] += 1


async def _write(
    http: httpx.AsyncClient, act: str, *, user: str, texts: dict[str, str], chance: Random
) -> tuple[str, str]:
    """Return the id and the words that were added, updated or deleted, and note it in `texts`."""
    text = sentence(chance)
    if act == "add":
        added = expected(await http.post("/v1/memories", json={"user_id": user, "text": text}))
        texts[added["id"]] = text
        return added["id"], text
    memory_id = chance.choice(list(texts))
    path = f"/v1/memories/{memory_id}"
    if act == "update":
        expected(await http.put(path, json={"text": text}))
        texts[memory_id] = text
        return memory_id, text
    expected(await http.delete(path))
    return memory_id, texts.pop(memory_id)


async def _look(http: httpx.AsyncClient, *, user: str, texts: dict[str, str], memory_id: str, text: str) -> None:
    answer = await http.get(f"/v1/memories/{memory_id}")
    assert (answer.json()["text"] if answer.is_success else None) == texts.get(memory_id)
    assert await all_memories(http, user) == texts
    body = {"user_id": user, "query": " ".join(text.split()[:4])}
    is_found = memory_id in ids_in(await http.post("/v1/memories/search", json=body))
    assert is_found == (memory_id in texts)
