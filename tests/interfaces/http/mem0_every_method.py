"""Run by an environment that has mem0's Python client: every public method once, found by looking at the classes."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from typing import Any

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.project import AsyncProject, Project
from mem0.exceptions import MemoryError as Mem0Error

MINE = {"user_id": "emma/家"}
SAID = [{"role": "user", "content": "I am allergic to peanuts."}]
HOOK = "https://hooks.example.org/in"
NO_MEANING = {"chat", "project.create", "project.delete", "project.add_member", "project.update_member"}
NO_MEANING |= {"project.remove_member"}
"""What has no meaning here, or not even there; it must be refused in words."""
Call = Callable[[Any, dict[str, Any]], Any]

CALLS: dict[str, Call] = {
    "add": lambda c, s: c.add(SAID, **MINE, agent_id="chef", app_id="kitchen", metadata={"chat": 1}),
    "get": lambda c, s: c.get(s["memory"]),
    "get_all": lambda c, s: c.get_all(
        filters=MINE, page=1, page_size=5, start_date="2000-01-01", end_date="2199-01-01", show_expired=True
    ),
    "search": lambda c, s: c.search(
        "peanuts", filters={"AND": [MINE]}, top_k=3, threshold=0.0, rerank=True, fields=["memory"], show_expired=True
    ),
    "update": lambda c, s: c.update(s["memory"], text="no nuts", metadata={"a": 1}, expiration_date="2199-01-01"),
    "history": lambda c, s: c.history(s["memory"]),
    "users": lambda c, s: c.users(),
    "batch_update": lambda c, s: c.batch_update([{"memory_id": s["memory"], "text": "no nuts at all"}]),
    "feedback": lambda c, s: c.feedback(s["memory"], feedback="POSITIVE", feedback_reason="right"),
    "create_memory_export": lambda c, s: c.create_memory_export(schema="{}", filters=MINE),
    "get_memory_export": lambda c, s: c.get_memory_export(memory_export_id=s["create_memory_export"]["id"]),
    "get_summary": lambda c, s: c.get_summary(filters=MINE),
    "get_profile": lambda c, s: c.get_profile(MINE["user_id"]),
    "generate_profile": lambda c, s: c.generate_profile(MINE["user_id"], idempotency_key=s["key"]),
    "get_profile_settings": lambda c, s: c.get_profile_settings(),
    "update_profile_settings": lambda c, s: c.update_profile_settings(enabled=True, custom_instructions="short"),
    "sample_profiles": lambda c, s: c.sample_profiles(limit=2),
    "get_profile_job": lambda c, s: c.get_profile_job(s["generate_profile"]["status_url"]),
    "get_project": lambda c, s: c.get_project(fields=["custom_instructions"]),
    "update_project": lambda c, s: c.update_project(custom_instructions="names only"),
    "project.get": lambda c, s: c.project.get(fields=["custom_instructions", "custom_categories"]),
    "project.update": lambda c, s: c.project.update(custom_categories=[{"food": "what they eat"}], multilingual=True),
    "project.get_members": lambda c, s: c.project.get_members(),
    "project.create": lambda c, s: c.project.create(name="new"),
    "project.add_member": lambda c, s: c.project.add_member("x@example.org", role="READER"),
    "project.update_member": lambda c, s: c.project.update_member("x@example.org", role="OWNER"),
    "project.remove_member": lambda c, s: c.project.remove_member("x@example.org"),
    "project.delete": lambda c, s: c.project.delete(),
    "create_webhook": lambda c, s: c.create_webhook(HOOK, "n", s["project"], ["memory_add"]),
    "get_webhooks": lambda c, s: c.get_webhooks(s["project"]),
    "update_webhook": lambda c, s: c.update_webhook(
        s["create_webhook"]["webhook_id"], name="m", event_types=["memory_delete"]
    ),
    "delete_webhook": lambda c, s: c.delete_webhook(s["create_webhook"]["webhook_id"]),
    "chat": lambda c, s: c.chat(),
    "delete": lambda c, s: c.delete(s["memory"]),
    "batch_delete": lambda c, s: c.batch_delete([{"memory_id": s["second"]}]),
    "delete_all": lambda c, s: c.delete_all(agent_id="chef"),
    "delete_users": lambda c, s: c.delete_users(run_id="monday/1"),
    "reset": lambda c, s: c.reset(),
}
"""How each is called, in the order in which they are."""


def public(kind: type, prefix: str = "") -> set[str]:
    """The methods that a class offers."""
    return {prefix + name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


async def done(answer: Any) -> Any:
    """The answer of either client."""
    return await answer if inspect.isawaitable(answer) else answer


async def refused(call: Call, client: Any, seen: dict[str, Any]) -> str:
    """What it says of itself; nobody can read raw JSON."""
    said = ""
    try:
        await done(call(client, seen))
    except (Mem0Error, NotImplementedError) as error:
        said = str(error)
    assert said, "it answered, and has no meaning here"
    assert not said.startswith("{"), said
    return said


async def every_method(client: Any, *, key: str) -> None:
    """Every method once, and what came of it."""
    seen: dict[str, Any] = {"project": client.project_id, "key": key}
    await done(client.add("tea on Mondays", **MINE, run_id="monday/1", infer=False))
    for name, call in CALLS.items():
        if name in NO_MEANING:
            await refused(call, client, seen)
            continue
        if name == "reset":  # there has to be somebody, here one whose name a path cannot hold as it is
            await done(client.add("last", user_id="a/b c%2F", agent_id="chef/2", infer=False))
        seen[name] = await done(call(client, seen))
        if name == "add":
            seen["memory"] = seen["add"]["results"][0]["id"]
            seen["second"] = (await done(client.add("soup", **MINE, infer=False)))["results"][0]["id"]
        sys.stdout.write(f"{name}\n")
    assert {item["memory"] for item in seen["search"]["results"]} & {"User is allergic to peanuts"}, seen["search"]
    assert seen["get_all"]["count"] == 3, seen["get_all"]
    assert seen["project.get"]["custom_instructions"] == "names only", seen["project.get"]
    assert seen["get_profile_job"]["job"]["status"] == "succeeded", seen["get_profile_job"]
    assert (await done(client.users()))["count"] == 0


async def main(host: str) -> None:
    """Both clients."""
    kinds = ((MemoryClient, Project), (AsyncMemoryClient, AsyncProject))
    for number, (kind, project) in enumerate(kinds):
        names = public(kind) | public(project, "project.")
        assert names == set(CALLS), f"not called here: {names - set(CALLS)}; gone: {set(CALLS) - names}"
        await every_method(kind(api_key="m0-test", host=host), key=f"profile-{number}")


asyncio.run(main(sys.argv[1]))
sys.stdout.write("lived\n")
