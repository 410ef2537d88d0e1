"""Wrong requests: each answer names what was wrong and what to do, has the right status, and repeats nobody's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ebbing import Memory
from ebbing.domain.errors import EbbingError
from tests.interfaces.cli import Ebbing
from tests.interfaces.http.service import service

SECRET = "Priya hides the biscuits"
"""Words of a person: in no answer."""
OWNER = {"user_id": "emma"}
ADD, SEARCH, LIST = "/v1/memories", "/v1/memories/search", "/v1/memories"
WRONG_KEY, WRONG_KIND = {"authorization": "Bearer nonsense"}, {"authorization": "Basic eDp5"}

Request = tuple[str, str, dict[str, Any], int, str]
"""Method, path, what is sent, the status, and what the answer must name."""
HTTP: dict[str, Request] = {
    "no owner": ("POST", ADD, {"json": {"text": SECRET}}, 400, "user_id"),
    "blank owner": ("POST", ADD, {"json": {"user_id": " ", "text": SECRET}}, 400, "user_id"),
    "owner of a wrong type": ("POST", ADD, {"json": {"user_id": ["emma"], "text": SECRET}}, 400, "user_id"),
    "owner with a line break": ("POST", ADD, {"json": {"user_id": "a\nb", "text": SECRET}}, 400, "user_id"),
    "owner too long": ("POST", ADD, {"json": {"user_id": "e" * 300, "text": SECRET}}, 400, "user_id"),
    "neither text nor messages": ("POST", ADD, {"json": OWNER}, 400, "text or messages"),
    "text and messages": (
        "POST",
        ADD,
        {"json": {**OWNER, "text": SECRET, "messages": SECRET}},
        400,
        "text or messages",
    ),
    "no text in messages": ("POST", ADD, {"json": {**OWNER, "messages": []}}, 400, "messages"),
    "messages of a wrong type": ("POST", ADD, {"json": {**OWNER, "messages": 5}}, 400, "messages"),
    "unknown role": ("POST", ADD, {"json": {**OWNER, "messages": [{"role": "king", "content": SECRET}]}}, 400, "role"),
    "bad time of a message": (
        "POST",
        ADD,
        {"json": {**OWNER, "messages": [{"role": "user", "content": SECRET, "timestamp": "soon"}]}},
        400,
        "timestamp",
    ),
    "metadata of a wrong type": ("POST", ADD, {"json": {**OWNER, "text": SECRET, "metadata": [1]}}, 400, "metadata"),
    "reserved tag": ("POST", ADD, {"json": {**OWNER, "text": SECRET, "tags": ["pending_deletion"]}}, 400, "tag"),
    "unknown mode": ("POST", ADD, {"json": {**OWNER, "text": SECRET, "mode": "magic"}}, 400, "mode"),
    "unknown field": ("POST", ADD, {"json": {**OWNER, "txet": SECRET}}, 400, "txet|text or messages"),
    "half a body": ("POST", ADD, {"content": b'{"user_id": "emma", "text": "Priya hi'}, 400, "body|JSON"),
    "no JSON": ("POST", ADD, {"content": b"text=Priya hides the biscuits"}, 400, "body|JSON"),
    "no body": ("POST", ADD, {"content": b""}, 400, "body|JSON"),
    "a list for a body": ("POST", ADD, {"json": [SECRET]}, 400, "body"),
    "not UTF-8": ("POST", ADD, {"content": b'{"text": "\xff\xfe"}'}, 400, "body|JSON|UTF"),
    "message too long": ("POST", ADD, {"json": {**OWNER, "messages": "x" * 100_001}}, 413, "100,?000"),
    "blank question": ("POST", SEARCH, {"json": {**OWNER, "query": " "}}, 400, "query"),
    "no question": ("POST", SEARCH, {"json": OWNER}, 400, "query"),
    "limit 0": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "limit": 0}}, 400, "limit|top_k"),
    "limit in words": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "limit": "ten"}}, 400, "limit"),
    "threshold over 1": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "threshold": 7}}, 400, "threshold"),
    "unknown filter": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "filters": {"type": "dream"}}}, 400, "type"),
    "filter of a wrong shape": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "filters": "all"}}, 400, "filter"),
    "two owners": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "filters": {"user_id": "ann"}}}, 400, "user_id"),
    "bad as_of": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "as_of": "one day"}}, 400, "as_of"),
    "too much expand": ("POST", SEARCH, {"json": {**OWNER, "query": "x", "context_turns": 99}}, 400, "context_turns"),
    "negative limit": ("GET", LIST, {"params": {**OWNER, "limit": -1}}, 400, "limit"),
    "limit too large": ("GET", LIST, {"params": {**OWNER, "limit": 5_000}}, 400, "limit"),
    "negative offset": ("GET", LIST, {"params": {**OWNER, "offset": -5}}, 400, "offset"),
    "foreign cursor": ("GET", LIST, {"params": {**OWNER, "cursor": "zzz"}}, 400, "cursor"),
    "unknown include": ("GET", LIST, {"params": {**OWNER, "include": "dreams"}}, 400, "include"),
    "unknown id": ("GET", "/v1/memories/01a2", {}, 404, "no memory with this id"),
    "unknown id to change": ("PUT", "/v1/memories/01a2", {"json": {"text": SECRET}}, 404, "no memory with this id"),
    "unknown id to restore": ("POST", "/v1/memories/01a2/restore", {}, 404, "no memory with this id"),
    "unknown job": ("GET", "/v1/jobs/99", {}, 404, "job"),
    "job that is no number": ("GET", "/v1/jobs/soon", {}, 400, "job_id"),
    "nothing named to erase": ("DELETE", ADD, {}, 400, "user_id"),
    "unknown route": ("GET", "/v1/memroies", {}, 404, "route"),
    "wrong method": ("PATCH", SEARCH, {"json": OWNER}, 405, "method"),
    "wrong credential": (
        "GET",
        LIST,
        {"params": OWNER, "headers": {"authorization": "Bearer nonsense"}},
        401,
        "key|cred",
    ),
    "wrong kind of credential": (
        "GET",
        LIST,
        {"params": OWNER, "headers": {"authorization": "Basic eDp5"}},
        401,
        "Bearer",
    ),
    "foreign host": ("GET", LIST, {"params": OWNER, "headers": {"host": "evil.example"}}, 421, "host|Host"),
    "mem0 add without messages": ("POST", "/v3/memories/add/", {"json": OWNER}, 400, "messages"),
    "mem0 search without an owner": ("POST", "/v3/memories/search/", {"json": {"query": "x"}}, 400, "user_id"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", HTTP)
async def test_a_wrong_request_is_told_what_was_wrong_and_what_to_do(name: str) -> None:
    method, path, sent, status, named = HTTP[name]
    settings = {"auth_mode": "required"} if "credential" in name else {}
    async with service(**settings) as client:
        answer: httpx.Response = await client.request(method, path, **sent)
    body = answer.json()
    assert (answer.status_code, body["status"]) == (status, status), answer.text
    assert re.search(named, f"{body['detail']} {body['hint']}"), answer.text
    assert len(body["hint"].split()) >= 3
    assert body["code"]
    assert "Traceback" not in answer.text
    assert "biscuits" not in answer.text


LIBRARY: dict[str, tuple[Callable[[Memory], object], str, str]] = {
    "no owner": (lambda memory: memory.add(SECRET), "missing_owner", "user_id"),
    "blank owner": (lambda memory: memory.search("x", user_id=" "), "missing_owner", "user_id"),
    "bytes": (lambda memory: memory.add(b"x", user_id="emma"), "invalid_input", "string"),
    "number for a message": (lambda memory: memory.add([5], user_id="emma"), "invalid_input", "message 0"),
    "unknown filter": (lambda memory: memory.search("x", user_id="e", filters={"type": "x"}), "invalid_input", "type"),
    "top_k 0": (lambda memory: memory.search("x", user_id="e", top_k=0), "invalid_input", "top_k"),
    "top_k in words": (lambda memory: memory.search("x", user_id="e", top_k="ten"), "invalid_input", "top_k"),  # type: ignore[arg-type]
    "unknown id": (lambda memory: memory.update("01a2", SECRET), "memory_not_found", "check the id"),
    "blank id": (lambda memory: memory.delete(" "), "invalid_input", "memory_id"),
    "no JSON in metadata": (lambda memory: memory.add("x", user_id="e", metadata={"a": {1}}), "invalid_input", "JSON"),
    "records of a wrong type": (lambda memory: memory.import_("x"), "invalid_input", "list"),  # type: ignore[arg-type]
    "unknown key of a config": (lambda _: Memory.from_config({"paht": "x"}), "configuration", "paht"),
    "setting out of range": (lambda _: Memory.from_config({"http_port": 99_999}), "configuration", "http_port"),
    "file for a directory": (lambda _: Memory(__file__), "store", "is a file"),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_a_wrong_call_raises_what_says_what_to_mend(name: str, tmp_path: Path) -> None:
    call, code, named = LIBRARY[name]
    with Memory(tmp_path, embedder="none") as memory, pytest.raises(EbbingError) as raised:
        call(memory)
    assert (raised.value.code, named in str(raised.value)) == (code, True), str(raised.value)
    assert "biscuits" not in str(raised.value)


COMMANDS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "unknown command": (("serach", "tea"), 2, "No such command"),
    "unknown option": (("search", "tea", "--tpo-k", "3"), 2, "No such option"),
    "missing argument": (("search",), 2, "Missing argument"),
    "value out of range": (("search", "tea", "-u", "e", "-k", "51"), 2, "top-k"),
    "value in words": (("search", "tea", "-u", "e", "-k", "ten"), 2, "top-k"),
    "unknown choice": (("list", "-u", "e", "--include", "dreams"), 2, "include"),
    "nobody named": (("search", "tea"), 2, "--user"),
    "blank text": (("add", " ", "-u", "e"), 2, "no text"),
    "bad time": (("add", SECRET, "-u", "e", "--timestamp", "soon"), 2, "timestamp"),
    "unknown id": (("show", "01a2"), 1, "check the id"),
    "no such file": (("import", "nowhere.json", "-u", "e"), 2, "there is no file"),
    "a directory for a file": (("import", ".", "-u", "e"), 2, "is a directory"),
    "a file that is there": (("export", __file__, "-u", "e"), 2, "--force"),
    "unknown format": (("import", __file__, "-u", "e", "--format", "icq"), 2, "format"),
    "a program for a chat": (("import", __file__, "-u", "e"), 2, "plain text"),
    "nothing to forget": (("forget", "-u", "e"), 2, "--about"),
    "two things to forget": (("delete", "01a2", "--all", "-u", "e"), 2, "one of these"),
    "erasing unasked": (("delete", "01a2", "--hard"), 2, "--yes"),
    "unknown job": (("jobs", "show", "99"), 1, "job"),
    "unknown key": (("keys", "revoke", "k1"), 1, "keys list"),
    "unknown role of a key": (("keys", "create", "--role", "king"), 2, "role"),
}


@pytest.mark.usefixtures("empty_store")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_command_ends_with_one_line_that_says_what_to_do(ebbing: Ebbing, name: str) -> None:
    arguments, code, named = COMMANDS[name]
    ended = ebbing(*arguments)
    assert (ended.code, ended.out) == (code, ""), ended
    assert named in ended.err
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    assert "biscuits" not in ended.err


def test_there_are_at_least_fifty_four_wrong_requests() -> None:
    assert len(HTTP) + len(LIBRARY) + len(COMMANDS) >= 54
