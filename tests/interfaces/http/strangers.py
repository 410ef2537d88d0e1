"""Random callers of three tenants on one service, and what none of them may ever see.

Whatever is stored carries a mark of whose it is, so that an answer that holds a stranger's mark, or a stranger's id, is
found whatever route it came by.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import httpx

from ebbing.memory import AsyncMemory

TENANTS: Final = ("acme", "globex", "initech")
USERS: Final = ("emma", "bob", "chen", "dora", "lilei")
GUESTS: Final = ("guest1", "guest2")
"""Names that come from channels alone, and are merged into a user's."""
MARK: Final = re.compile(rf"zq({'|'.join(TENANTS)})({'|'.join((*USERS, 'any'))})\d+q")
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?")
RARE: Final = {"/v1/tenant": 0.02, "/reset": 0.02, "/v1/maintenance/runs": 0.05, "/healthz": 0.1, "/readyz": 0.1}
"""How often a route is called, against 1 of the others."""
ERASING: Final = 0.1
"""How often one that erases a lot is."""
UNKNOWN: Final = "01a1ff00-0000-7000-8000-{:012}"

Owner = tuple[str, str]
"""Tenant and user; the user `any` is everybody of the tenant."""


@dataclass(frozen=True)
class Person:
    """Somebody with a credential."""

    tenant: str
    user: str | None
    """None: every user of the tenant."""
    role: str
    key: str

    def sees(self, owner: Owner) -> bool:
        """Whether what is this owner's may be shown to them."""
        return owner[0] == self.tenant and (self.user is None or owner[1] in {self.user, "any"})

    @property
    def headers(self) -> dict[str, str]:
        """What they send along."""
        return {"authorization": f"Bearer {self.key}"}


@dataclass(frozen=True)
class Request:
    """One call, and the ids of others that it names."""

    method: str
    route: str
    path: str
    query: dict[str, Any]
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that the caller said."""
        return f"{self.path} {self.query} {self.body} {self.headers}"


class Crowd:
    """Calls routes at random, and looks at every answer."""

    def __init__(self, client: httpx.AsyncClient, memory: AsyncMemory, *, seed: int) -> None:
        self.client, self.memory, self.chance = client, memory, Random(seed)
        self.people: list[Person] = []
        self.routes: list[tuple[str, str]] = []
        self.statuses: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        self.owners_of: defaultdict[str, set[Owner]] = defaultdict(set)
        """By the id of a memory. An id that was erased may come back with somebody who imports it."""
        self.names: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        """By the name of a path's part: ids of keys, webhooks, events … with their tenant."""
        self.known: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
        """By method and route: the arguments that its query and its body may hold."""
        self.calls = 0
        self._number = 0

    async def gather(self) -> None:
        """Gives everybody a key, and learns the routes."""
        for tenant in TENANTS:
            view = self.memory.for_tenant(tenant)
            for role in ("read", "write", "admin"):
                self.people.append(Person(tenant, None, role, (await view.api_keys.create(role))["key"]))
            for user in USERS:
                self.people.append(Person(tenant, user, "write", (await view.api_keys.create(user_id=user))["key"]))
        document = (await self.client.get("/openapi.json")).json()
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                self.routes.append((method.upper(), path))
                self.known[method.upper(), path] = _arguments(document, operation)

    async def learn(self) -> None:
        """Whose every id is, from the store itself."""
        for tenant in TENANTS:
            view = self.memory.for_tenant(tenant)
            for owner in await self.memory.components.store.owners(tenant, deleted=True):
                scope = (tenant, owner.name if owner.kind == "user" else "any")
                ids: dict[str, Any] = {f"{owner.kind}_id": owner.name}
                cursor: str | None = None
                while True:
                    page = await view.export(**ids, cursor=cursor)
                    for record in page["records"]:
                        self.owners_of[record["id"]].add(scope)
                    cursor = page["next_cursor"]
                    if cursor is None:
                        break

    def mark(self, owner: Owner) -> str:
        """A word that occurs nowhere else."""
        self._number += 1
        return f"zq{owner[0]}{owner[1]}{self._number}q"

    async def call(self, person: Person, request: Request) -> httpx.Response:
        """Sends a request, and fails if the answer holds what this person may not see."""
        self.calls += 1
        sent: dict[str, Any] = {"content": request.body} if isinstance(request.body, bytes) else {"json": request.body}
        answer = await self.client.request(
            request.method,
            request.path,
            params=request.query,
            headers={**person.headers, **request.headers},
            **({} if request.body is None else sent),
        )
        self.statuses[request.method, request.route][answer.status_code] += 1
        assert answer.status_code < 500, (request, answer.text)
        await self._judge(person, request, told=answer.text + str(answer.headers))
        return answer

    async def _judge(self, person: Person, request: Request, *, told: str) -> None:
        for found in MARK.finditer(told):
            owner = (found[1], found[2])
            assert person.sees(owner), f"{person} was shown words of {owner} by {request}: {told}"
        if self._strange_ids(person, request, told):
            await self.learn()  # an id that was erased may have come back with somebody who imported it
        strange = self._strange_ids(person, request, told)
        assert not strange, f"{person} was shown {strange} of others by {request}: {told}"

    def _strange_ids(self, person: Person, request: Request, told: str) -> list[str]:
        named = set(UUID.findall(told)) & self.owners_of.keys()
        return [one for one in named if one not in request.text and not any(map(person.sees, self.owners_of[one]))]

    def request(self, person: Person, *, victim: Person | None = None) -> Request:
        """Something to ask, about themselves or about others."""
        while True:
            method, route = self.chance.choice(self.routes)
            likely = RARE.get(route, ERASING if method == "DELETE" and "memory_id" not in route else 1.0)
            if self.chance.random() < likely:
                return self.filled(method, route, person=person, victim=victim)

    def filled(self, method: str, route: str, *, person: Person, victim: Person | None) -> Request:
        """A request to this route, with ids of their own, of others and of nobody."""
        path = re.sub(r"\{(\w+)\}", lambda part: self._name(part[1], person, victim=victim), route)
        user = person.user or self.chance.choice(USERS)
        named = self.chance.choice([user, None, self.chance.choice(USERS)])
        query: dict[str, Any] = {}
        if method in {"GET", "DELETE"} or self.chance.random() < 0.1:
            query = {name: value for name, value in self._query(named).items() if value is not None}
        body = None if method == "GET" else self._body(route, person, user=named)
        if self.chance.random() < 0.95:  # else there are arguments that the route does not know, and refuses
            in_query, in_body = self.known[method, route]
            query = {name: value for name, value in query.items() if name in in_query}
            body = {name: value for name, value in body.items() if name in in_body} if isinstance(body, dict) else body
        headers = {"idempotency-key": f"k{self.chance.randrange(9)}"} if self.chance.random() < 0.05 else {}
        return Request(method, route, path, query, body, headers)

    def unknown(self, request: Request) -> Request | None:
        """The same request about an id that nobody has; None where it names no memory by its path."""
        if "{memory_id}" not in request.route:
            return None
        nobody = UNKNOWN.format(self.chance.randrange(10**12))
        path = UUID.sub(nobody, request.path)
        return Request(request.method, request.route, path, request.query, request.body)

    def someone(self) -> Person:
        """Whoever comes next."""
        return self.chance.choice(self.people)

    def _name(self, part: str, person: Person, *, victim: Person | None) -> str:
        chance = self.chance
        if part == "memory_id":
            meant = victim or person
            theirs = [one for one, owners in self.owners_of.items() if any(map(meant.sees, owners))]
            if theirs and chance.random() < 0.8:
                return chance.choice(theirs)
            ids = list(self.owners_of)
            return chance.choice(ids) if ids and chance.random() < 0.9 else UNKNOWN.format(chance.randrange(10**12))
        if part == "session_id":
            return f"s{chance.randrange(3)}"
        if part == "job_id":
            return str(chance.randrange(40))
        if part == "kind":
            return chance.choice(["user", "agent", "run", "app"])
        if part == "name":
            return chance.choice([*USERS, "a1", "r1"])
        if part == "user_id":
            return (person.user if chance.random() < 0.5 else None) or chance.choice(USERS)
        known = [name for name, _ in self.names[part]]
        return chance.choice(known) if known and chance.random() < 0.8 else UNKNOWN.format(chance.randrange(10**12))

    def _query(self, user: str | None) -> dict[str, Any]:
        chance = self.chance
        return {
            "user_id": user,
            "agent_id": chance.choice([None, None, "a1"]),
            "run_id": chance.choice([None, None, "r1"]),
            "limit": chance.choice([None, 5, 50]),
            "page_size": chance.choice([None, 5]),
            "offset": chance.choice([None, None, 2]),
            "include": chance.choice([None, "all", "episodes"]),
            "filters": chance.choice([None, None, str({"user_id": user or "emma"})]),
            "hard": chance.choice([None, None, "true"]),
            "source_id": chance.choice([None, None, None, "m1"]),
            "since": "2020-01-01",
            "by": "2090-01-01",
        }

    def _body(self, route: str, person: Person, *, user: str | None) -> Any:
        chance = self.chance
        # Who writes for the whole tenant may write the same to several of its users.
        owner = (person.tenant, person.user or "any")
        if route == "/v1/import":
            return self._lines(owner, user=user)
        if route == "/v1/identities":
            user = chance.choice([user, *GUESTS])
        mine = self.mark(owner)
        texts = [f"I like {mine} tea.", f"我喜欢{mine}。", f"My name is {mine}.", f"I moved to {mine} last week."]
        said = chance.choice(texts)
        ids = [*self.owners_of] or [UNKNOWN.format(1)]
        one = self._name("memory_id", person, victim=None)
        every = {
            "user_id": user,
            "agent_id": chance.choice([None, None, "a1"]),
            "run_id": chance.choice([None, None, "r1"]),
            "text": said,
            "messages": chance.choice([said, [{"role": "user", "content": said, "id": chance.choice([None, "m1"])}]]),
            "query": chance.choice(["tea", "喜欢", "what do I like?", "zqacmeemma1q", "where do I live?"]),
            "filters": chance.choice([None, None, {"user_id": chance.choice(USERS)}, _any_of(chance.sample(USERS, 2))]),
            "metadata": chance.choice([None, {"note": self.mark((person.tenant, owner[1]))}]),
            "infer": chance.choice([True, False]),
            "include": chance.choice(["all", "memories", "episodes"]),
            "limit": chance.choice([None, 10]),
            "memories": [
                {"text": said, **({"user_id": user} if route == "/v1/memories/batch" else {"memory_id": one})}
            ],
            "memory_id": chance.choice(ids),
            "signal": chance.choice(["used", "down"]),
            "feedback": chance.choice(["POSITIVE", "NEGATIVE"]),
            "feedback_reason": mine,
            **({} if route == "/v1/memories/forget" else {"confirm": person.tenant}),
            "about": chance.choice(["tea", "我喜欢的", mine]),
            "set": {"home": mine},
            "channel": "wechat",
            "channel_user_id": self.mark((person.tenant, "any")),
            "target_user_id": user or chance.choice(USERS),
            "source_user_id": chance.choice(GUESTS),
            "url": "https://example.org/hook",
            "name": self.mark((person.tenant, "any")),
            "role": chance.choice(["read", "write"]),
            "dry_run": chance.choice([True, False]),
            "max_tokens": 200,
            "operation": chance.choice(["trigger", "sample"]),
            "entity_id": user or chance.choice(USERS),
            "custom_instructions": "short",
            "private": chance.choice([True, False]) if route.endswith("/private") else None,
            "decision": "keep",
            "workers": {"tea": "shop"},
            "default": "talk",
            "items": [{"text": said, "score": 0.5}],
            "ids": chance.choice([[one], [one, *chance.sample(ids, min(2, len(ids)))]]),
        }
        left_out = {"text"} if chance.random() < 0.5 else {"messages"}
        if chance.random() < 0.2:
            left_out |= set(chance.sample(sorted(every), 5))
        return {name: value for name, value in every.items() if name not in left_out and value is not None}

    def _lines(self, owner: Owner, *, user: str | None) -> bytes:
        """Records to import, some under ids that others have."""
        ids = [*self.owners_of, UNKNOWN.format(self.chance.randrange(10**12))]
        record = {"ebbing": 1, "created_at": "2026-01-01T00:00:00+00:00", "recorded_at": "2026-01-01T00:00:00+00:00"}
        lines = [
            {**record, "id": self.chance.choice(ids), "content": f"likes {self.mark(owner)}", "user_id": user or "emma"}
            for _ in range(self.chance.randrange(1, 3))
        ]
        return "\n".join(map(json.dumps, lines)).encode()

    def remember_names(self, person: Person, answer: httpx.Response) -> None:
        """Takes note of ids that an answer gave, for others to try."""
        try:
            told = answer.json()
        except ValueError:
            return
        for part, found in _ids(told):
            if len(self.names[part]) < 200:
                self.names[part].append((found, person.tenant))


def normal(answer: httpx.Response) -> tuple[int, str]:
    """Status and body without what differs between any two answers."""
    return answer.status_code, MOMENT.sub("T", UUID.sub("ID", answer.text))


def _any_of(users: Iterable[str]) -> dict[str, Any]:
    return {"OR": [{"user_id": user} for user in users]}


def _ids(told: Any) -> Iterable[tuple[str, str]]:
    if isinstance(told, dict):
        for name in ("webhook_id", "event_id", "key_id", "project_id", "org_id", "change_id"):
            if isinstance(told.get(name), str):
                yield name, told[name]
        if isinstance(told.get("id"), str):
            yield "key_id" if "key" in told else "webhook_id" if "url" in told else "event_id", told["id"]


def _arguments(document: Any, operation: Any) -> tuple[set[str], set[str]]:
    """The names that a query and a body may hold."""
    query = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return query, set(schema.get("properties", ()))
