"""A memory from its opening to its end: twins, threads, processes, closing, and being forgotten open."""

from __future__ import annotations

import gc
import inspect
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from ebbing import AsyncMemory, Memory
from ebbing.domain.errors import EbbingError, EmbeddingError, StoreClosedError, StoreError
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.reranker import FakeReranker

COROUTINES = sorted(
    name for name, _ in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction) if not name.startswith("_")
)


def opened(path: Path) -> Memory:
    return Memory(path, embedder=FakeEmbedder())


def texts(memory: Memory, question: str = "tea") -> set[str]:
    return {item["memory"] for item in memory.search(question, user_id="ada", top_k=50)["results"]}


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("ebbing")}


# ── one brain, two mouths ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", COROUTINES)
def test_every_coroutine_has_a_blocking_twin_with_the_same_signature_and_documentation(name: str) -> None:
    coroutine, twin = getattr(AsyncMemory, name), getattr(Memory, name)
    mine, its = inspect.signature(twin), inspect.signature(coroutine)
    assert list(mine.parameters.values()) == list(its.parameters.values())
    assert not inspect.iscoroutinefunction(twin)
    assert coroutine.__doc__
    if name != "close":
        assert mine == its
    assert twin.__doc__ == coroutine.__doc__


def test_the_twins_are_opened_in_the_same_ways_and_have_nothing_else_of_their_own() -> None:
    for name in ("__init__", "from_config", "from_env"):
        assert inspect.signature(getattr(Memory, name)) == inspect.signature(getattr(AsyncMemory, name))
    public = [{name for name in dir(twin) if not name.startswith("_")} for twin in (Memory, AsyncMemory)]
    assert public[0] == public[1]


NAMESPACES = (
    *("profiles", "identities", "assistant", "changes", "reviews", "maintenance"),
    *("jobs", "overview", "webhooks", "api_keys", "audit"),
)


def verbs_of(service: object) -> set[str]:
    return {name for name in dir(service) if not name.startswith("_")}


def test_the_facade_is_one_flat_class_with_few_verbs() -> None:
    assert AsyncMemory.__mro__ == (AsyncMemory, object)
    assert len(verbs_of(AsyncMemory)) <= 30


def test_every_namespace_has_a_blocking_twin_with_the_same_verbs(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        found = {name: value for name, value in vars(memory).items() if not name.startswith("_")}
        assert tuple(found) == NAMESPACES
        for name, twin in found.items():
            service = getattr(memory._memory, name)
            assert service.__doc__.splitlines()[0] == twin.__doc__.splitlines()[0]
            assert verbs_of(service) == verbs_of(twin)
            for verb in verbs_of(service):
                coroutine, blocking = getattr(type(service), verb), getattr(type(twin), verb)
                assert inspect.signature(coroutine) == inspect.signature(blocking)
                assert inspect.iscoroutinefunction(coroutine)
                assert not inspect.iscoroutinefunction(blocking)
                assert coroutine.__doc__ == blocking.__doc__
                assert coroutine.__doc__


# ── many at once ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_threads_share_one_memory(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> bool:
            text = f"tea number {number}"
            [result] = memory.add(text, user_id="ada", infer=False)["results"]
            memory.update(result["id"], f"{text} again")
            return f"{text} again" in texts(memory, text)

        assert all(pool.map(work, range(40)))
        assert len(memory.get_all(user_id="ada", limit=1_000)["results"]) == 40
        assert memory.maintenance.verify() == []


def test_many_tasks_share_one_memory(tmp_path: Path) -> None:
    async def run() -> int:
        async with AsyncMemory(tmp_path, embedder=FakeEmbedder()) as memory, anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(lambda text: memory.add(text, user_id="ada"), f"I like tea number {number}")
        async with AsyncMemory(tmp_path, embedder=FakeEmbedder()) as memory:
            return len((await memory.get_all(user_id="ada", include="episodes"))["results"])

    assert anyio.run(run) == 40


def test_two_memories_on_one_path_see_each_others_writes_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as two:
        for number, (writer, reader) in enumerate([(one, two), (two, one)] * 5):
            [result] = writer.add(f"tea number {number}", user_id="ada", infer=False)["results"]
            assert f"tea number {number}" in texts(reader)
            reader.update(result["id"], f"changed tea {number}")
            assert f"changed tea {number}" in texts(writer)
            assert f"tea number {number}" not in texts(writer)
        one.delete_all(user_id="ada")
        assert texts(two) == set()


def test_a_blocking_search_reads_the_past_reranks_and_tells_listeners(tmp_path: Path) -> None:
    heard: list[object] = []
    with Memory(path=tmp_path, embedder=FakeEmbedder(), reranker=FakeReranker()) as memory:
        memory.add(["I like tea", "it rains"], user_id="ada", run_id="r", infer=False)
        memory.subscribe("memory.accessed", heard.append)
        found = memory.search("tea", user_id="ada", as_of="2999-01-01", context_turns=2)["results"]
    assert found[0]["memory"] == "I like tea"
    assert len(heard) == 1


def test_searches_of_many_threads_and_adds_go_side_by_side(tmp_path: Path) -> None:
    words = ("tea", "rain", "cats", "noodles")
    with Memory(path=tmp_path, embedder=FakeEmbedder()) as memory, ThreadPoolExecutor(6) as pool:
        for word in words:
            memory.add(f"I like {word}", user_id="ada", infer=False)

        def ask(turn: int) -> bool:
            word = words[turn % 4]
            memory.add(f"note {turn} about {word}", user_id="ada", infer=False)
            found = memory.search(word, user_id="ada", top_k=50)["results"]
            return f"note {turn} about {word}" in {item["memory"] for item in found}

        assert all(pool.map(ask, range(120)))


def test_a_blocking_memory_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    async def run() -> set[str]:
        with opened(tmp_path) as memory:
            memory.add("I like tea", user_id="ada", infer=False)
            return texts(memory)

    assert anyio.run(run) == {"I like tea"}


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_added_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("I like tea", user_id="ada", infer=False)
    with opened(tmp_path) as memory:
        assert texts(memory) == {"I like tea"}


def test_closing_twice_and_closing_what_was_never_used_is_fine(tmp_path: Path) -> None:
    before = threads()
    for use in (True, False):
        memory = opened(tmp_path)
        if use:
            memory.add("I like tea", user_id="ada")
        memory.close()
        memory.close()
    assert threads() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.add("tea", user_id="ada"),
        lambda memory: memory.search("tea", user_id="ada"),
        lambda memory: memory.get_all(user_id="ada"),
        lambda memory: memory.get("some-id"),
        lambda memory: memory.maintenance.stats(),
    ],
)
def test_a_closed_memory_says_so(tmp_path: Path, call: Callable[[Memory], object]) -> None:
    memory = opened(tmp_path)
    memory.add("I like tea", user_id="ada")
    memory.close()
    with pytest.raises(StoreClosedError, match="closed"):
        call(memory)


def test_a_closed_async_memory_says_so_and_closes_twice(tmp_path: Path) -> None:
    async def run() -> None:
        memory = AsyncMemory(tmp_path, embedder=FakeEmbedder())
        await memory.add("I like tea", user_id="ada")
        await memory.close()
        await memory.close()
        for call in (memory.add("tea", user_id="ada"), memory.search("tea", user_id="ada"), memory.get("x")):
            with pytest.raises(StoreClosedError):
                await call

    anyio.run(run)


def test_closing_while_others_work_hangs_nobody_and_tells_them(tmp_path: Path) -> None:
    for attempt in range(10):
        memory = opened(tmp_path / str(attempt))
        begun = threading.Barrier(5)
        ended: list[type[BaseException]] = []

        def work(
            memory: Memory = memory, begun: threading.Barrier = begun, ended: list[type[BaseException]] = ended
        ) -> None:
            begun.wait()
            try:
                while True:
                    memory.add("I like tea", user_id="ada", infer=False)
                    memory.search("tea", user_id="ada")
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test looks at it
                ended.append(type(error))

        workers = [threading.Thread(target=work, daemon=True) for _ in range(4)]
        for worker in workers:
            worker.start()
        begun.wait()
        memory.close()
        for worker in workers:
            worker.join(timeout=20)
        assert not any(worker.is_alive() for worker in workers)
        assert ended == [StoreClosedError] * 4


class Unclosable(FakeEmbedder):
    """Cannot even be closed."""

    async def aclose(self) -> None:
        raise EmbeddingError("the endpoint does not let go")


def test_what_cannot_be_closed_keeps_nothing_else_open(tmp_path: Path) -> None:
    before = threads()
    memory = Memory(tmp_path, embedder=Unclosable())
    memory.add("I like tea", user_id="ada")
    with pytest.raises(EmbeddingError, match="let go"):
        memory.close()
    assert threads() == before
    memory.close()
    with opened(tmp_path) as again:
        assert again.maintenance.verify() == []


# ── forgotten ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.extended
def test_a_memory_that_is_forgotten_open_leaves_no_thread_and_no_warning(tmp_path: Path) -> None:
    before = threads()
    memory = opened(tmp_path)
    memory.add("I like tea", user_id="ada", infer=False)
    memory.search("tea", user_id="ada")
    gone = weakref.ref(memory)
    del memory
    for _ in range(100):
        gc.collect()
        if threads() <= before:  # those of an earlier test may end meanwhile
            break
        threading.Event().wait(0.05)
    assert gone() is None
    assert threads() <= before


FORGETFUL = """
    import logging, sys, threading
    from ebbing import Memory
    from ebbing.testing.models.embedder import FakeEmbedder
    logging.getLogger("asyncio").setLevel("ERROR")  # else it tells, in dev mode, which step took long on a busy machine
    memory = Memory(sys.argv[1], embedder=FakeEmbedder())
    memory.add("I like tea", user_id="ada", infer=False)
    memory.search("tea", user_id="ada")
    {end}
"""


@pytest.mark.extended
@pytest.mark.parametrize(
    "end",
    [
        "print('done')",
        "del memory; print('done')",
        "print('done'); sys.exit(0)",
        "threading.Thread(target=memory.search, args=['tea'], kwargs={'user_id': 'ada'}).start(); print('done')",
    ],
)
def test_a_forgotten_close_neither_hangs_nor_spoils_the_end_of_the_program(tmp_path: Path, end: str) -> None:
    program = textwrap.dedent(FORGETFUL).format(end=end)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "done", "")
    with opened(tmp_path) as memory:
        assert texts(memory) == {"I like tea"}
        assert memory.maintenance.verify() == []


# ── after a fork ─────────────────────────────────────────────────────────────────────────────────────────────────────

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def in_child(work: Callable[[], object]) -> str:
    """What `work` gives or raises in a forked child, as text; the test fails if the child hangs."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe(duplex=False)

    def run() -> None:
        try:
            its.send(f"gave {work()}")
        except EbbingError as error:
            its.send(f"raised {type(error).__name__}: {error}")
        finally:
            its.close()

    child = context.Process(target=run)
    child.start()
    its.close()
    said = mine.recv() if mine.poll(30) else "hung"
    child.join(30)
    if child.is_alive():
        child.kill()
    return str(said)


@forking
@pytest.mark.parametrize("used", [True, False], ids=["used before", "only opened before"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_forked_child_is_told_to_open_its_own_and_the_parent_goes_on(tmp_path: Path, used: bool) -> None:
    with opened(tmp_path) as memory:
        if used:
            memory.add("I like tea", user_id="ada", infer=False)
        calls: Sequence[Callable[[], object]] = (
            lambda: memory.search("tea", user_id="ada"),
            lambda: memory.add("I like rain", user_id="ada"),
            lambda: memory.get_all(user_id="ada"),
            lambda: memory.delete_all(user_id="ada"),
        )
        for call in calls:
            said = in_child(call)
            assert said.startswith("raised StoreError")
            assert "fork" in said
        memory.add("I like green tea", user_id="ada", infer=False)
        assert "I like green tea" in texts(memory)
        assert memory.maintenance.verify() == []


@forking
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_forked_child_may_close_what_it_inherited_and_open_its_own(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("I like tea", user_id="ada", infer=False)

        def work() -> set[str]:
            memory.close()
            with opened(tmp_path) as own:
                own.add("I like rain", user_id="ada", infer=False)
                return texts(own)

        assert "I like rain" in in_child(work)
        assert texts(memory) == {"I like tea", "I like rain"}
        assert memory.maintenance.verify() == []


def test_a_store_that_cannot_be_opened_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    before = threads()
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(StoreError):
        opened(tmp_path / "file")
    (tmp_path / "ebbing.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(StoreError):
        opened(tmp_path)
    assert threads() == before
