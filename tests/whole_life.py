"""A store that has lived: several tenants and people, and everything that can happen to a memory.

`live` makes one, by the numbers of a seed; `answers` is what one that holds the same answers.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from ebbing import Memory
from ebbing.domain.access_roles import key_digest
from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder

START: Final = datetime(2024, 5, 1, 9, tzinfo=UTC)
PEOPLE: Final = ("ada", "bob", "蓝兰", 'd\'Arc %_\\ "e"')
QUESTIONS: Final = ("where does she live?", "what do I like to drink?", "我喜欢什么音乐", "peanuts")
_TEXTS: Final = (
    *("I live in Leeds", "I moved to Berlin last week", "I'm allergic to peanuts", "My name is Sam", "I love jazz"),
    *(
        "I drink green tea every morning",
        "我喜欢古典音乐",
        "我住在杭州",
        "我对花生过敏",
        "Remember that the key is under the mat",
    ),
    *("I went running with Tom in the park", "My sister's phone number is 0151 5550", "I work at a bakery 🥐"),
)
_DIFFICULT: Final = "NUL \x00, a private mark \U000f0000, 1e400, ' \" \\ % _ {} — \u2028 𝄞 "
_Result = TypeVar("_Result")


def opened(place: Any, clock: ManualClock | None = None) -> Memory:
    """A memory over the store at a place, with a model that costs nothing."""
    return Memory(place, embedder=FakeEmbedder(16), clock=clock or ManualClock(START + timedelta(days=400)))


def live(place: Any, *, seed: int = 1, steps: int = 120) -> str:
    """Make the store; the API key that opens it."""
    chance, clock = random.Random(seed), ManualClock(START)
    with opened(place, clock) as memory:
        key = memory.api_keys.create(role="admin", note="for the phone")["key"]
        memory.api_keys.revoke(memory.api_keys.create(user_id="ada", expires_in_days=3.5)["id"])
        memory.webhooks.create("https://example.org/hook", topics=["memory.added"], name="the hook")
        memory.audit.record("export", actor="ada", target="ada")
        memory.profiles.set_defaults({"preferences": ["quiet"]})
        for tenant in ("default", "acme"):
            view = memory.for_tenant(tenant)
            view.add(_DIFFICULT, user_id="ada", infer=False, metadata={"app_id": "app", "deep": [1.5, {"a": None}]})
            for _ in range(steps):
                clock.advance(timedelta(hours=chance.randint(1, 60)))
                _step(view, chance)
            _meet(view)
        memory.maintenance.run()
        memory.maintenance.apply_forgetting()
        clock.advance(timedelta(days=200))
        memory.maintenance.run()
        memory.profiles.get(user_id="ada")
        _asked(memory, clock)
        memory.delete_all(user_id=PEOPLE[3])
        for _ in range(steps // 4):
            _step(memory, chance)
    return str(key)


def answers(place: Any, key: str) -> list[Any]:
    """What a store answers, with scores; its key ring, its queue and its books."""
    with opened(place) as memory:
        assert memory.maintenance.verify() == []
        said: list[Any] = [memory.api_keys.list(), memory.webhooks.list(), memory.audit.list(), memory.jobs.list()]
        for tenant in ("default", "acme"):
            view = memory.for_tenant(tenant)
            said += [view.maintenance.list_owners(), view.identities.list_merges(), view.identities.list()]
            for owner in view.maintenance.list_owners():
                user = owner["name"]
                said += [view.search(question, user_id=user, top_k=20)["results"] for question in QUESTIONS]
                said += [view.changes.list(user_id=user, limit=100), view.profiles.get(user_id=user)]
                records = view.export(user_id=user, limit=1_000)["records"]
                said.append(records)
                for record in records:
                    said += [view.history(record["id"], user_id=user), view.explain(record["id"], user_id=user)]
        said.append(_run(_key(memory, key)))
        return said


def undo_everything(place: Any) -> list[Any]:
    """What comes of taking back the last changes of everybody, and the merges."""
    done: list[Any] = []
    with opened(place) as memory:
        for merge in memory.identities.list_merges():
            done.append(_tried(lambda number=merge["id"]: memory.identities.unmerge(number)))
        for owner in memory.maintenance.list_owners():
            for change in memory.changes.list(user_id=owner["name"], limit=10)["changes"]:
                done.append(_tried(lambda number=change["id"]: memory.undo(number, force=True)))
        assert memory.maintenance.verify() == []
    return done


def _step(memory: Memory, chance: random.Random) -> None:
    user = chance.choice(PEOPLE)
    if chance.random() < 0.55:
        memory.add(chance.choice(_TEXTS), user_id=user, run_id=chance.choice([None, "run 1"]))
        return
    results = memory.search(chance.choice(QUESTIONS), user_id=user)["results"]
    if not results:
        return
    number = chance.choice(results)["id"]
    act = chance.randrange(7)
    if act == 0:
        _tried(lambda: memory.update(number, chance.choice(_TEXTS), user_id=user))
    elif act == 1:
        memory.delete(number, user_id=user)
    elif act == 2:
        memory.delete(number, user_id=user, hard=True)
    elif act == 3:
        for change in memory.changes.list(user_id=user, limit=1)["changes"]:
            _tried(lambda number=change["id"]: memory.undo(number))
    else:
        memory.feedback(number, ("used", "corrected", "down")[act - 4], user_id=user, recall_id="r", reason="why")


def _meet(memory: Memory) -> None:
    """Three people who are two, and one who is parted again."""
    memory.identities.link("web", "cookie 1", user_id="ada")
    for user in ("ada", "bob", "guest"):
        turn = {"role": "user", "content": f"My name is {user.title()}", "id": f"said by {user}"}
        memory.add(turn, user_id=user)
        memory.profiles.update({"home": f"{user}'s town", "preferences": ["jazz"]}, user_id=user)
    memory.identities.merge("ada", "guest")
    memory.identities.unmerge(memory.identities.merge("ada", "bob")["id"])


def _asked(memory: Memory, clock: ManualClock) -> None:
    """A request, a job of each state, and a setting."""
    store, ada = memory.components.store, Scope(user_id="ada")

    async def work() -> None:
        until = clock.now() + timedelta(minutes=1)
        await store.requests.begin(KeptRequest("default", "me", "key 1", "d", clock.now(), until, ada, body="{}"))
        await store.profiles.change_settings("default", {"forgetting": {"on": True}})
        await store.set_mark(ada, "seen", value=7)
        for number in range(4):
            await store.jobs.enqueue(
                "note", f"key {number}", payload={"number": number}, belongs_to=ada, max_attempts=1
            )
        for end in (store.jobs.complete, lambda job: store.jobs.fail(job, "no", retry_after=timedelta(1)), None):
            job = await store.jobs.claim(["note"], lease=timedelta(minutes=5))
            assert job is not None
            if end is not None:
                await end(job)

    _run(work())


async def _key(memory: Memory, key: str) -> Any:
    return await memory.components.store.keys.find(key_digest(key))


def _tried(act: Any) -> Any:
    try:
        return act()
    except EbbingError as error:
        return error.code


def _run(work: Coroutine[Any, Any, _Result]) -> _Result:
    return asyncio.run(work)
