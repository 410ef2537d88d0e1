"""What is off the record is written nowhere: every file of the directory is searched for it, byte by byte."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from anyio import create_task_group

from ebbing import AsyncMemory
from ebbing.adapters.embedders.embedding_cache import CachingEmbedder
from ebbing.client import LocalStore, MemoryService
from ebbing.domain.errors import ModelUnavailableError, StoreError
from ebbing.interfaces.http.app import create_app
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import Components, build, load_settings
from tests.acceptance.traces import files, packed_in, traces, vector_of
from tests.interfaces.cli import runner

pytestmark = pytest.mark.anyio
USER: Final = "ada"
WORDS: Final = ("quokkaberry", "蘩漪湖", "metafrazzled", "run-flummoxed", "Thrumwick")
SECRETS: Final = ("I am allergic to quokkaberry jam.", "我喜欢去蘩漪湖划船。")
ASKED: Final = ("Please don't save this: I am allergic to quokkaberry jam.", "别记下来，我喜欢去蘩漪湖划船。")
KEPT: Final = "I live in Leeds and I like oolong."
REPLY: Final = {"role": "assistant", "content": "Quokkaberry and 蘩漪湖, I see: quokkaberry is lovely."}


def components_of(path: Path, **settings: Any) -> Components:
    """A memory that remembers wherever it can: vectors in a cache, and every use at once."""
    embedder = CachingEmbedder(FakeEmbedder())
    chat = settings.pop("chat_model", None)
    values = {"path": path, "usage_flush_size": 1, "worker": False, **settings}
    return build(load_settings(values), embedder=embedder, chat_model=chat, clock=ManualClock())


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(components=components_of(tmp_path)) as opened:
        await opened.add(KEPT, user_id=USER)
        yield opened


def left(directory: Path) -> list[str]:
    """Traces of the words, and of the vectors of the texts."""
    found = traces(directory, WORDS)
    for file in files(directory):
        if file.suffix == ".db":
            found += packed_in(file, WORDS)
    vectors = [vector_of(FakeEmbedder(), text) for text in (*SECRETS, *ASKED)]
    return found + [f"{file.name}: a vector" for file in files(directory) if any(map(file.read_bytes().count, vectors))]


Way = Callable[[AsyncMemory], Awaitable[object]]


async def by_their_words(memory: AsyncMemory) -> None:
    for text in ASKED:
        for infer in (True, False):
            await memory.add(text, user_id=USER, infer=infer)
            await memory.add(
                [{"role": "user", "content": text, "id": f"m-{infer}", "name": "Thrumwick"}, REPLY, KEPT],
                user_id=USER,
                infer=infer,
            )


async def by_the_words_of_the_next_message(memory: AsyncMemory) -> None:
    for text, then in zip(SECRETS, ("Don't record that.", "刚才说的不要记。"), strict=True):
        await memory.add([{"role": "user", "content": text}, REPLY, {"role": "user", "content": then}], user_id=USER)


async def in_the_message_after_one_that_asks(memory: AsyncMemory) -> None:
    asked = ("Can I tell you a secret? Please don't write it down.", "跟你说个事 莫记")
    for secret, ask in zip(SECRETS, asked, strict=True):
        for number, infer in enumerate((True, False)):
            said = {"role": "user", "name": "Thrumwick", "content": secret, "id": f"metafrazzled-{number}"}
            await memory.add({**said, "content": ask, "id": None}, user_id=USER, run_id="run-flummoxed")
            await memory.add({"role": "assistant", "content": "Of course."}, user_id=USER, run_id="run-flummoxed")
            await memory.add(said, user_id=USER, run_id="run-flummoxed", infer=infer)
            await memory.add(REPLY, user_id=USER, run_id="run-flummoxed", infer=infer)
            await memory.add(said, user_id=USER, run_id="run-flummoxed", infer=infer)  # sent twice
            await memory.add(KEPT, user_id=USER)


async def in_the_job_after_one_that_asks(memory: AsyncMemory) -> None:
    for secret in SECRETS:
        await memory.enqueue_add("What I'm about to tell you is off the record.", user_id=USER)
        await memory.enqueue_add(secret, user_id=USER)
        await memory.enqueue_add(REPLY, user_id=USER)
    await memory.jobs.run_worker(until_idle=True)


async def in_private(memory: AsyncMemory) -> None:
    for text in SECRETS:
        for infer in (True, False):
            told = await memory.add(
                [{"role": "user", "content": text, "name": "Thrumwick"}, REPLY],
                user_id=USER,
                run_id="run-flummoxed",
                metadata={"note": "metafrazzled"},
                infer=infer,
                private=True,
            )
            assert [one["id"] for one in told["results"]] == [None, None]


async def to_be_done_later(memory: AsyncMemory) -> None:
    for text in ASKED:
        assert (await memory.enqueue_add(text, user_id=USER))["job_id"] is None
        await memory.enqueue_add([{"role": "user", "content": text}, REPLY, KEPT], user_id=USER)
    for text in SECRETS:
        assert (await memory.enqueue_add(text, user_id=USER, private=True))["job_id"] is None
    await memory.jobs.run_worker(until_idle=True)


async def in_a_session(memory: AsyncMemory) -> None:
    session = memory.session(user_id=USER)
    for text in ASKED:
        await session.add(KEPT)
        await session.add(text)
        await session.add(REPLY)
        assert (await session.messages())[-2]["content"] == text
    for text in SECRETS:
        await session.add(text)
        await session.add(REPLY)
        await session.add("Don't save that, please.")
        await session.add(text, private=True)
    for number in range(40):  # older rounds leave for the long-term memory
        await session.add(f"I had tea number {number}.")
    assert await session.end()


async def in_a_private_session(memory: AsyncMemory) -> None:
    session = memory.session(user_id=USER, run_id="run-flummoxed")
    session.private = True
    for number in range(20):
        for text in SECRETS:
            await session.add(f"{text} {number}")
            await session.add(REPLY)
    assert (await session.search("quokkaberry"))["results"][0]["kind"] == "working"
    await session.get_context("what of quokkaberry and 蘩漪湖?")
    assert await session.end(strict=True)
    assert await session.messages() == []


async def in_a_private_session_that_stays_open(memory: AsyncMemory) -> None:
    session = memory.session(user_id=USER, private=True)
    await session.add([*({"role": "user", "content": text} for text in SECRETS), REPLY])


async def as_a_question(memory: AsyncMemory) -> None:
    await memory.search("quokkaberry by the 蘩漪湖?", user_id=USER, private=True)
    await memory.get_context("quokkaberry by the 蘩漪湖?", user_id=USER, private=True)


async def by_the_host_kit(memory: AsyncMemory) -> None:
    host = MemoryService(LocalStore(memory))
    for text in ASKED:
        await host.maybe_write(USER, text, assistant_message=REPLY["content"])
    await host.aclose()


async def over_http(memory: AsyncMemory) -> None:
    app = create_app(memory)
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
    base = "http://localhost:8830"
    async with httpx.AsyncClient(transport=transport, base_url=base) as client:
        for number, (path, body) in enumerate(_requests()):
            for again in range(2):
                key = {"Idempotency-Key": f"key-{number}"}
                answer = await client.post(path, json=body, headers=key)
                assert answer.is_success, (path, again, answer.text)
        later = await client.post(
            "/v1/memories",
            json={"messages": ASKED[0], "user_id": USER},
            headers={"Prefer": "respond-async", "Idempotency-Key": "later"},
        )
        assert later.is_success, later.text


def _requests() -> list[tuple[str, dict[str, Any]]]:
    """Requests with something off the record, on every route that takes what was said."""
    found: list[tuple[str, dict[str, Any]]] = []
    session = "/v1/sessions/s-1"
    for asked, secret in zip(ASKED, SECRETS, strict=True):
        scope = {"user_id": USER}
        hidden = {**scope, "private": True, "metadata": {"note": "metafrazzled"}}
        found += [
            ("/v1/memories", {**scope, "messages": [{"role": "user", "content": asked}, REPLY]}),
            ("/v1/memories", {**scope, "text": asked}),
            ("/v1/memories", {**hidden, "messages": secret}),
            ("/v1/memories", {**hidden, "text": secret}),
            ("/v1/memories/batch", {"memories": [{**scope, "text": asked}, {**hidden, "text": secret}]}),
            ("/v1/memories/batch", {"memories": [{**scope, "text": secret}], "private": True}),
            ("/v1/memories/search", {**scope, "query": secret, "private": True}),
            ("/v1/context", {**scope, "query": secret, "private": True}),
            ("/v3/memories/add/", {**scope, "messages": [{"role": "user", "content": asked}]}),
            ("/v3/memories/add/", {**hidden, "messages": [{"role": "user", "content": secret}]}),
            ("/v1/memories/", {**hidden, "messages": [{"role": "user", "content": secret}]}),
            ("/memories", {**hidden, "messages": [{"role": "user", "content": secret}]}),
            (f"{session}/messages", {**scope, "messages": asked}),
            (f"{session}/messages", {**scope, "messages": REPLY}),
            (f"{session}/messages", {**scope, "messages": secret, "private": True}),
            (f"{session}/private", {**scope, "private": True}),
            (f"{session}/messages", {**scope, "messages": secret}),
            (f"{session}/search", {**scope, "query": secret}),
            (f"{session}/context", {**scope, "query": secret}),
            (f"{session}/private", {**scope, "private": False}),
            (f"{session}/messages", {**scope, "messages": KEPT}),
            (f"{session}/end", scope),
        ]
    return found


WAYS: Final[Mapping[str, Way]] = {
    "by_their_words": by_their_words,
    "by_the_words_of_the_next_message": by_the_words_of_the_next_message,
    "in_the_message_after_one_that_asks": in_the_message_after_one_that_asks,
    "in_the_job_after_one_that_asks": in_the_job_after_one_that_asks,
    "in_private": in_private,
    "to_be_done_later": to_be_done_later,
    "in_a_session": in_a_session,
    "in_a_private_session": in_a_private_session,
    "in_a_private_session_that_stays_open": in_a_private_session_that_stays_open,
    "as_a_question": as_a_question,
    "by_the_host_kit": by_the_host_kit,
    "over_http": over_http,
}


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_off_the_record_is_on_no_disk(memory: AsyncMemory, tmp_path: Path, way: str) -> None:
    await WAYS[way](memory)
    await memory.components.usage.flush()
    assert left(tmp_path) == []
    assert "oolong" in str(await memory.get_all(user_id=USER, include="all"))
    await memory.close()
    assert left(tmp_path) == []
    assert await memory.components.working.sessions() == []


async def test_the_search_of_the_disk_finds_what_is_on_the_record(memory: AsyncMemory, tmp_path: Path) -> None:
    for secret in SECRETS:
        await memory.add(secret, user_id=USER)
    assert {"quokkaberry as UTF-8", "蘩漪湖 as UTF-8"} <= {trace.partition(": ")[2] for trace in left(tmp_path)}


async def test_a_language_model_never_sees_what_is_off_the_record(tmp_path: Path) -> None:
    chat = ScriptedChatModel(ModelUnavailableError("down"))
    async with AsyncMemory(components=components_of(tmp_path, chat_model=chat, write_mode="llm")) as memory:
        for text in ASKED:
            await memory.add([KEPT, text, REPLY, "I moved to Rome."], user_id=USER, run_id="r")
        for text in SECRETS:
            await memory.add(text, user_id=USER, run_id="r", private=True)
        await memory.maintenance.retry_failed_extractions()
    assert len(chat.prompts) >= 2
    assert "quokkaberry" not in str(chat.prompts).lower()
    assert "蘩漪湖" not in str(chat.prompts)
    assert left(tmp_path) == []


async def test_nobody_is_told_of_what_is_off_the_record(memory: AsyncMemory) -> None:
    heard: list[str] = []
    for topic in ("memory.added", "memory.updated", "memory.accessed", "session.end"):
        memory.subscribe(topic, lambda happening: heard.append(happening.topic))
    await in_private(memory)
    await in_a_private_session(memory)
    await as_a_question(memory)
    assert heard == []


async def test_an_earlier_message_is_offered_for_forgetting(memory: AsyncMemory) -> None:
    await memory.add("My sister Mia lives in Rome. I am allergic to quokkaberry jam.", user_id=USER)
    told = await memory.add("Please don't save what I just said.", user_id=USER)
    offered = told["to_forget"]
    assert len(offered["ids"]) >= 3
    gone = await memory.forget(confirm=offered["confirm"], user_id=USER, hard=True)
    assert sorted(gone["forgotten"]) == sorted(offered["ids"])
    rest = str(await memory.get_all(user_id=USER, include="all"))
    assert "quokkaberry" not in rest
    assert "Mia" not in rest
    assert "oolong" in rest
    assert "to_forget" not in await memory.add("Don't save what I just said.", user_id="nobody-yet")


async def test_a_private_session_goes_on_when_it_was_idle(memory: AsyncMemory, tmp_path: Path) -> None:
    session = memory.session(user_id=USER, run_id="long")
    session.private = True
    await session.add(SECRETS[0])
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    clock.advance(timedelta(days=10))
    other = memory.session(user_id="bob")
    await other.add("hello")
    await other.end()
    again = memory.session(user_id=USER, run_id="long")
    assert again.private
    await again.add(SECRETS[1])
    await again.end()
    assert left(tmp_path) == []
    assert not again.private


def test_the_command_line_and_an_import_write_nothing_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ebbing = runner(tmp_path / "store", capsys)
    assert ebbing("add", KEPT, "-u", USER).code == 0
    assert ebbing("add", SECRETS[0], "-u", USER, "--private").code == 0
    assert ebbing("add", ASKED[1], "-u", USER).code == 0
    log = tmp_path / "log.jsonl"
    lines = [{"role": "user", "content": text} for text in (KEPT, *ASKED)]
    log.write_text("\n".join(json.dumps({**line, "user_id": USER}) for line in lines), "utf-8")
    assert ebbing("import", log, "-u", USER).code == 0
    assert left(tmp_path / "store") == []
    assert "oolong" in ebbing("list", "-u", USER, "--json").out


ANNOUNCED: Final = "What I'm about to tell you is off the record."


async def contents(memory: AsyncMemory) -> list[str]:
    answer = await memory.get_all(user_id=USER, include="all")
    return [item["memory"] for item in answer["results"] if item["kind"] == "episode"]


async def test_only_the_next_message_of_the_same_speaker_is_meant(memory: AsyncMemory) -> None:
    said = [("Ana", ANNOUNCED), ("Ben", "I ski on Sundays."), ("Ana", SECRETS[0]), ("Ana", "I row on Fridays.")]
    for name, text in said:
        await memory.add({"role": "user", "name": name, "content": text}, user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I row on Fridays.", "I ski on Sundays."]


async def test_another_conversation_of_the_same_person_is_not_meant(memory: AsyncMemory) -> None:
    await memory.add(ANNOUNCED, user_id=USER, run_id="one")
    await memory.add("I ski on Sundays.", user_id=USER, run_id="two")
    await memory.add("I row on Fridays.", user_id="grace")
    await memory.add(SECRETS[0], user_id=USER, run_id="one")
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def test_a_message_after_half_an_hour_is_not_meant(memory: AsyncMemory) -> None:
    await memory.add(ANNOUNCED, user_id=USER)
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    clock.advance(timedelta(minutes=31))
    await memory.add("I ski on Sundays.", user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def test_what_was_left_out_and_comes_again_much_later_is_left_out_again(memory: AsyncMemory) -> None:
    secret, reply = {"role": "user", "content": SECRETS[0], "id": "s"}, {**REPLY, "id": "r"}
    await memory.add(ANNOUNCED, user_id=USER)
    await memory.add(secret, user_id=USER)
    await memory.add(reply, user_id=USER)
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    clock.advance(timedelta(minutes=31))
    await memory.add([secret, reply, {"role": "user", "content": "I ski on Sundays.", "id": "s"}], user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def test_a_request_that_is_made_again_waits_as_long_again(memory: AsyncMemory) -> None:
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    for minutes in (29, 2):
        await memory.add(ANNOUNCED, user_id=USER)
        clock.advance(timedelta(minutes=minutes))
    await memory.add(SECRETS[0], user_id=USER)
    assert await contents(memory) == [KEPT]


async def test_a_message_that_is_private_anyway_is_the_one_that_was_announced(memory: AsyncMemory) -> None:
    await memory.add(ANNOUNCED, user_id=USER)
    await memory.add(SECRETS[0], user_id=USER, private=True)
    await memory.add("I ski on Sundays.", user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def test_a_reply_to_what_was_left_out_is_left_out_whatever_its_trust(memory: AsyncMemory) -> None:
    await memory.add(ASKED[0], user_id=USER)
    await memory.add(REPLY, user_id=USER, trust="assistant")
    assert await contents(memory) == [KEPT]


async def test_a_call_that_runs_beside_a_request_does_not_end_it(memory: AsyncMemory) -> None:
    async with create_task_group() as group:
        group.start_soon(lambda: memory.add([f"I had tea number {number}." for number in range(40)], user_id=USER))
        await memory.add(ANNOUNCED, user_id=USER)
    await memory.add(SECRETS[0], user_id=USER)
    assert SECRETS[0] not in await contents(memory)


async def test_a_call_that_fails_may_be_made_again(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.add(ANNOUNCED, user_id=USER)
    monkeypatch.setattr("ebbing.api.memories.writes.warm_up_patterns", _fails)
    with pytest.raises(StoreError):
        await memory.add([SECRETS[0], "I ski on Sundays."], user_id=USER)
    monkeypatch.undo()
    await memory.add([SECRETS[0], "I ski on Sundays."], user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def _fails(*_: object, **__: object) -> None:
    raise StoreError("the disk is full")


async def test_what_was_accepted_before_the_request_is_kept_after_it(memory: AsyncMemory) -> None:
    await memory.enqueue_add("I ski on Sundays.", user_id=USER)
    await memory.add(ANNOUNCED, user_id=USER)
    await memory.jobs.run_worker(until_idle=True)
    await memory.add(SECRETS[0], user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "I ski on Sundays."]


async def test_a_document_between_is_neither_meant_nor_the_next_message(memory: AsyncMemory) -> None:
    await memory.add(ANNOUNCED, user_id=USER)
    await memory.add("The boiler is of 2019.", user_id=USER, trust="document")
    await memory.add(SECRETS[0], user_id=USER)
    assert sorted(await contents(memory)) == [KEPT, "The boiler is of 2019."]
