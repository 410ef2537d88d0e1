"""Run by an environment that has mem0's Python client: a whole life, in English and Chinese, sync and async."""

from __future__ import annotations

import asyncio
import inspect
import sys
from typing import Any

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import MemoryNotFoundError

LIVES = (
    ("emma", "I am allergic to peanuts.", "peanuts", "User is allergic to peanuts and sesame"),
    ("小明", "我对花生过敏。", "花生", "用户对花生和芝麻过敏"),
)


async def done(answer: Any) -> Any:
    """The answer of either client."""
    return await answer if inspect.isawaitable(answer) else answer


async def life(client: Any, user: str, *, said: str, word: str, better: str) -> None:
    """Everything that a client can do, once."""
    mine = {"user_id": user}
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "OK"}]
    added = await done(client.add(messages, user_id=user, metadata={"chat": 1}))
    assert added["status"] == "SUCCEEDED", added
    memory_id = added["results"][0]["id"]
    for number in range(3):
        await done(client.add(f"{word} {number}", user_id=user, infer=False))

    found = (await done(client.search(word, filters=mine)))["results"]
    assert memory_id in {hit["id"] for hit in found}, found
    assert all(0 <= hit["score"] <= 1 for hit in found)
    page = await done(client.get_all(filters={"AND": [mine]}, page=1, page_size=3))
    assert (page["count"], len(page["results"]), page["previous"]) == (4, 3, None), page
    rest = await done(client.get_all(filters=mine, page=2, page_size=3))
    assert (len(rest["results"]), rest["next"]) == (1, None), rest

    assert (await done(client.get(memory_id)))["metadata"] == {"chat": 1}
    assert (await done(client.update(memory_id, text=better)))["memory"] == better
    events = [entry["event"] for entry in await done(client.history(memory_id))]
    assert events == ["ADD", "UPDATE"], events
    ids = [item["id"] for item in page["results"] if item["id"] != memory_id][:2]
    batch = [{"memory_id": one, "text": f"{word} again {at}"} for at, one in enumerate(ids)]
    assert (await done(client.batch_update(batch)))["updated"] == 2
    assert (await done(client.batch_delete([{"memory_id": one} for one in ids])))["deleted"] == 2

    told = await done(client.feedback(memory_id, feedback="POSITIVE", feedback_reason="right"))
    assert told["feedback"] == "POSITIVE", told
    export = await done(client.create_memory_export(schema="{}", filters=mine))
    got = await done(client.get_memory_export(memory_export_id=export["id"]))
    assert memory_id in {item["id"] for item in got["results"]}
    users = await done(client.users())
    assert user in {one["name"] for one in users["results"]}, users

    await done(client.delete(memory_id))
    try:
        await done(client.get(memory_id))
    except MemoryNotFoundError:
        pass
    else:
        raise AssertionError("a deleted memory was told of")
    await done(client.delete_all(user_id=user))
    assert (await done(client.get_all(filters=mine)))["count"] == 0
    await done(client.add(f"{word} last", user_id=user, infer=False))
    await done(client.delete_users(user_id=user))
    assert (await done(client.get_all(filters=mine)))["count"] == 0


async def main(host: str) -> None:
    """Both clients, each with both lives."""
    for client in (MemoryClient(api_key="m0-test", host=host), AsyncMemoryClient(api_key="m0-test", host=host)):
        for user, said, word, better in LIVES:
            await life(client, user, said=said, word=word, better=better)
    project = MemoryClient(api_key="m0-test", host=host).project.get()
    assert project["id"] == "default", project


asyncio.run(main(sys.argv[1]))
sys.stdout.write("lived\n")
