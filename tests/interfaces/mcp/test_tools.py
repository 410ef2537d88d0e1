"""The tools of the MCP server, as a host sees and calls them."""

from __future__ import annotations

import json
import re

import pytest

from tests.interfaces.mcp.hosts import REVISIONS, Mode, answer, host, refusal, text_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", REVISIONS)
async def test_a_host_of_either_revision_lists_and_calls_the_same_tools(mode: Mode) -> None:
    async with host(mode=mode, tools="default") as client:
        assert client.protocol_version == REVISIONS[mode]
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*listed] == ["memory_search", "memory_add", "memory_get_context", "memory_update", "memory_forget"]
        await answer(client, "memory_add", content="I live in Leeds")
        found = await answer(client, "memory_search", query="Leeds")
    assert "Leeds" in found["memories"][0]["memory"]


async def test_the_sets_of_tools_grow_and_keep_their_order() -> None:
    names = {}
    for tool_set in ("minimal", "default", "full"):
        async with host(tools=tool_set) as client:
            names[tool_set] = [tool.name for tool in (await client.list_tools()).tools]
    assert len(names["minimal"]) == 2
    assert len(names["full"]) == 13
    assert names["full"][:5] == names["default"]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) for name in names["full"])


async def test_every_tool_says_what_it_does_to_the_memory_and_what_it_answers() -> None:
    async with host() as client:
        tools = (await client.list_tools()).tools
    reading = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
    destroying = {tool.name for tool in tools if tool.annotations and tool.annotations.destructive_hint}
    assert {"memory_search", "memory_get_context", "memory_list", "fetch"} <= reading
    assert destroying == {"memory_update", "memory_forget", "memory_undo"}
    assert all(tool.output_schema and tool.description and tool.annotations.open_world_hint is False for tool in tools)


async def test_no_tool_takes_a_user_or_a_tenant() -> None:
    async with host() as client:
        arguments = {name for tool in (await client.list_tools()).tools for name in tool.input_schema["properties"]}
        assert not {name for name in arguments if "user" in name or "tenant" in name or "owner" in name}
        await answer(client, "memory_add", content="I live in Leeds", user_id="somebody else")
        assert (await answer(client, "memory_search", query="Leeds"))["memories"]


@pytest.mark.parametrize("mode", REVISIONS)
async def test_dotted_names_of_the_designs_are_understood_and_never_listed(mode: Mode) -> None:
    async with host(mode=mode) as client:
        await answer(client, "memory.add", content="我住在杭州")
        assert "杭州" in text_of(await client.call_tool("memory.get_context", {}))
        assert not [tool.name for tool in (await client.list_tools()).tools if "." in tool.name]


async def test_the_same_statement_twice_changes_nothing() -> None:
    async with host() as client:
        for content in ("I live in Leeds", "The project is built with meson, not cmake"):
            [first] = (await answer(client, "memory_add", content=content))["memories"]
            again = await answer(client, "memory_add", content=content)
            assert first["event"] == "ADD"
            assert [item["event"] for item in again["memories"]] == ["NONE"]
            assert again["change_id"] is None
        assert len((await answer(client, "memory_list"))["memories"]) == 2


async def test_a_statement_that_no_rule_reads_is_kept_with_its_type_and_importance() -> None:
    async with host() as client:
        stated = {"content": "The project is built with meson, not cmake", "importance": 0.9}
        added = await answer(client, "memory_add", memory_type="procedural", **stated)
        [item] = (await answer(client, "memory_list"))["memories"]
        assert item["id"] == added["memories"][0]["id"]
        assert (item["type"], item["importance"]) == ("procedural", 0.9)
        found = await answer(client, "memory_search", query="meson", memory_types=["procedural"])
        assert [hit["id"] for hit in found["memories"]] == [item["id"]]
        assert not (await answer(client, "memory_search", query="meson", memory_types=["constraint"]))["memories"]


async def test_what_has_changed_closes_what_was_true_before() -> None:
    async with host() as client:
        [old] = (await answer(client, "memory_add", content="I live in Leeds"))["memories"]
        [new] = (await answer(client, "memory_add", content="I moved to Lisbon"))["memories"]
        assert new["superseded"] == [old["id"]]
        assert (await answer(client, "memory_explain", memory_id=old["id"]))["valid_to"]


HOMES = {
    "en": ("I live in Porto", "I moved to Lisbon", "Porto", "where does she live"),
    "zh": ("我住在杭州", "我搬到上海了", "杭州", "住在哪里"),
}


@pytest.mark.parametrize("language", HOMES)
async def test_a_home_that_is_stated_again_after_a_move_is_the_home_again(language: str) -> None:
    before, moved, place, question = HOMES[language]
    async with host() as client:
        for content in (before, moved):
            await answer(client, "memory_add", content=content)
        [again] = (await answer(client, "memory_add", content=before))["memories"]
        assert again["event"] == "ADD"
        assert len(again["superseded"]) == 1
        [current] = (await answer(client, "memory_list"))["memories"]
        assert place in current["memory"]
        retried = await answer(client, "memory_add", content=before)
        assert ([item["event"] for item in retried["memories"]], retried["change_id"]) == (["NONE"], None)
        assert place in (await answer(client, "memory_search", query=question))["memories"][0]["memory"]


@pytest.mark.parametrize("language", HOMES)
@pytest.mark.parametrize("is_read", [True, False])
async def test_what_is_forgotten_is_in_no_answer_and_can_be_stated_again(language: str, is_read: bool) -> None:
    content, _, place, question = HOMES[language]
    content = content if is_read else f"The build of {place} takes meson, not cmake"
    async with host() as client:
        [item] = (await answer(client, "memory_add", content=content))["memories"]
        await answer(client, "memory_forget", memory_id=item["id"])
        for query in (question, content):
            assert (await answer(client, "memory_search", query=query))["memories"] == []
            assert (await answer(client, "memory_get_context", query=query))["context"] == ""
        [again] = (await answer(client, "memory_add", content=content))["memories"]
        assert again["event"] == "ADD"
        assert place in (await answer(client, "memory_search", query=content))["memories"][0]["memory"]


async def test_a_memory_is_reworded_forgotten_and_brought_back() -> None:
    async with host() as client:
        [item] = (await answer(client, "memory_add", content="I live in Leeds"))["memories"]
        await answer(client, "memory_update", memory_id=item["id"], content="Lives in Leeds, near the station")
        gone = await answer(client, "memory_forget", memory_id=item["id"], reason="asked to")
        assert "station" in gone["memory"]
        assert not (await answer(client, "memory_list"))["memories"]
        assert (await answer(client, "memory_undo", change_id=gone["change_id"]))["restored"] == 2
        assert "station" in (await answer(client, "memory_list"))["memories"][0]["memory"]
        events = [
            change["event"] for change in (await answer(client, "memory_history", memory_id=item["id"]))["memories"]
        ]
        assert events[0] == "ADD"
        assert "DELETE" in events


async def test_a_connector_searches_and_fetches() -> None:
    async with host() as client:
        await answer(client, "memory_add", content="I live in Leeds")
        [hit, *_] = (await answer(client, "search", query="Leeds"))["results"]
        document = await answer(client, "fetch", id=hit["id"])
        assert document["id"] == hit["id"]
        assert "Leeds" in document["text"]
        assert (await answer(client, "memory_feedback", memory_id=hit["id"], signal="used"))["counted"]


async def test_an_error_says_what_to_do_next() -> None:
    async with host() as client:
        assert "memory_search first" in await refusal(client, "memory_update", memory_id="nope", content="x")
        assert "memory_search first" in await refusal(client, "memory_forget", memory_id="nope")
        assert "top_k" in await refusal(client, "memory_search", query="x", top_k=999)
        assert "memory_add" in await refusal(client, "memory_add", content="")
    async with host(user=None) as client:
        assert "--user" in await refusal(client, "memory_search", query="Leeds")


async def test_resources_and_prompts_show_what_is_known() -> None:
    async with host() as client:
        assert [str(item.uri) for item in (await client.list_resources()).resources] == [
            "memory://profile",
            "memory://recent",
        ]
        [added] = (await answer(client, "memory_add", content="我住在杭州"))["memories"]
        for uri in ("memory://profile", "memory://recent", f"memory://{added['id']}"):
            [content] = (await client.read_resource(uri)).contents
            assert "杭州" in content.text
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert prompts == ["recall", "remember", "review"]
        [message] = (await client.get_prompt("recall", {"topic": "杭州"})).messages
        assert "<recalled-memory>" in message.content.text


async def test_the_usual_tools_cost_few_tokens() -> None:
    async with host(tools="default") as client:
        tools = [
            tool.model_dump(exclude={"output_schema"}, exclude_none=True) for tool in (await client.list_tools()).tools
        ]
    assert len(json.dumps(tools)) < 4_500
