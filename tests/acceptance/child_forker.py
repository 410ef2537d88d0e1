"""A program that forks while its store is open. Prints as JSON what every process of it was told is stored, and errors.

Usage: child_forker.py DIRECTORY CASE
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ebbing import Memory
from ebbing.domain.errors import EbbingError

ADDS = 24
AT_REST = 8
"""Adds after which a child lets its parent act, and goes on."""


def opened(directory: Path) -> Memory:
    return Memory(path=directory / "store", embedder="none")


class Family:
    """A parent with an open memory, and the children that it forks; each writes down what it was told."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.memory = opened(directory)
        self.memory.add("the parent's", user_id="parent", infer=False)
        self.memory.search("parent", user_id="parent")
        self._read, self._write = os.pipe()

    def work(self, name: str, memory: Memory | None = None) -> None:
        """What a child does, with a memory of its own unless it uses another."""
        told: dict[str, object] = {"ids": [], "error": ""}
        ids: list[str] = []
        try:
            mine = memory or opened(self.directory)
            for number in range(ADDS):
                [added] = mine.add(f"{name} {number}", user_id=name, infer=False)["results"]
                ids.append(added["id"])
                if number == AT_REST:
                    os.write(self._write, b"x")
            assert len(mine.search(name, user_id=name, limit=5)["results"]) == 5
        except EbbingError as error:
            told["error"] = f"{type(error).__name__}: {error}"
            os.write(self._write, b"x")
        told["ids"] = ids
        (self.directory / f"{name}.part").write_text(json.dumps(told))
        (self.directory / f"{name}.part").rename(self.directory / f"{name}.json")

    def fork(self, name: str, *, memory: Memory | None = None) -> int:
        child = os.fork()
        if not child:
            try:
                self.work(name, memory)
            finally:
                os._exit(0)
        return child

    def wait_for(self, children: int) -> None:
        """Wait until so many children are in the middle of their work."""
        left = children
        while left:
            left -= len(os.read(self._read, left))


def parent_closes(family: Family) -> None:
    child = family.fork("child")
    family.wait_for(1)
    family.memory.close()
    os.waitpid(child, 0)


def parent_ends(family: Family) -> None:
    family.fork("child")
    family.wait_for(1)  # the parent's memory is left as it is


def parent_is_killed(family: Family) -> None:
    family.fork("child")
    family.wait_for(1)
    os._exit(0)


def parent_goes_on(family: Family) -> None:
    child = family.fork("child")
    family.wait_for(1)
    family.work("elder", family.memory)
    os.waitpid(child, 0)
    assert len(family.memory.get_all(user_id="child")["results"]) == ADDS
    family.memory.close()


def multiprocessing_forks(family: Family) -> None:
    with family.memory:
        child = multiprocessing.get_context("fork").Process(target=family.work, args=("child",))
        child.start()
        family.wait_for(1)
    child.join()


def workers_are_forked_beforehand(family: Family) -> None:
    """As a server does that loads the application before it forks its workers, and replaces one that ends."""
    workers = [family.fork(f"worker{number}") for number in range(3)]
    family.wait_for(3)
    workers.append(family.fork("worker3"))
    family.memory.close()
    for worker in workers:
        os.waitpid(worker, 0)


def parent_is_busy(family: Family) -> None:
    """Threads of the parent write and search while it forks again and again."""
    stop = threading.Event()

    def busy(call: Callable[[], object]) -> None:
        while not stop.is_set():
            call()

    calls = (
        lambda: family.memory.add("noise", user_id="noise", infer=False),
        lambda: family.memory.search("noise", user_id="noise"),
        lambda: family.memory.get_all(user_id="parent"),
    )
    threads = [threading.Thread(target=busy, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    children = [family.fork(f"child{number}") for number in range(4)]
    stop.set()
    for thread in threads:
        thread.join()
    family.memory.close()
    for child in children:
        os.waitpid(child, 0)


def child_uses_what_it_inherited(family: Family) -> None:
    os.waitpid(family.fork("child", memory=family.memory), 0)
    family.memory.close()


CASES: dict[str, Callable[[Family], None]] = {
    case.__name__: case
    for case in (
        *(parent_closes, parent_ends, parent_is_killed, parent_goes_on, multiprocessing_forks),
        *(workers_are_forked_beforehand, parent_is_busy, child_uses_what_it_inherited),
    )
}

if __name__ == "__main__":
    CASES[sys.argv[2]](Family(Path(sys.argv[1])))
