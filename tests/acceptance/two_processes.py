"""Two processes that use one store at random, and a model of what may be in it after each call they were told of."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Self

from tests.acceptance.child_calls import DELETED

PROGRAM = Path(__file__).with_name("child_calls.py")
USERS = ("ada", "bo", "cy")
NAMES = ("add", "say", "update", "delete", "remove", "erase", "search")
WEIGHTS = (40, 10, 14, 8, 6, 10, 12)
EXPECTED_ERRORS = frozenset({"not_found", "memory_not_found", "conflict"})
"""Codes of what a call may be told when the other process was faster."""
_NAME: Final = re.compile(r"\bn\d+n\d*")
"""What is in no two texts."""
State = dict[str, str]
"""By id the text of a record, or that it is deleted; what was erased is not there."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, and what it was answered."""

    sent: Mapping[str, Any]
    answer: Mapping[str, Any] | None = None
    """None where the process was killed before it answered."""

    @property
    def user(self) -> str:
        return str(self.sent["user"])

    @property
    def is_done(self) -> bool:
        return self.answer is not None and "error" not in self.answer

    def apply(self, state: State) -> State:
        """What it makes of a state, if it is done."""
        name, gave = self.sent["name"], self.answer["gave"] if self.answer else None
        if name in {"add", "say"}:
            return state | dict(gave or {})
        if name == "update":
            return state | {self.sent["id"]: self.sent["texts"][0]}
        if name == "delete":
            return state | {self.sent["id"]: DELETED}
        if name == "remove":
            return {memory_id: text for memory_id, text in state.items() if memory_id != self.sent["id"]}
        return {} if name == "erase" else state


class Worker:
    """One of the processes."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-W", "ignore", str(PROGRAM), str(directory)]
        environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": "/usr/bin:/bin"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.answer() == {"gave": "ready"}

    def send(self, call: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process ended by itself"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, name: str, user: str, **more: Any) -> Any:
        self.send({"name": name, "user": user, **more})
        return self.answer()["gave"]

    def kill(self) -> dict[str, Any] | None:
        """Ends it at once; the last answer, if it gave one."""
        self.process.kill()
        assert self.process.stdout is not None
        left = self.process.stdout.read()
        self.close()
        return json.loads(left) if left.endswith("\n") else None

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


@dataclass
class Pair:
    """Two workers on one directory, and what must be there."""

    directory: Path
    seed: int
    model: dict[str, State] = field(default_factory=lambda: {user: {} for user in USERS})
    counts: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> Self:
        self._chance, self._number = Random(self.seed), 0
        self._workers = [Worker(self.directory), Worker(self.directory)]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.close()

    def round(self, *, kills: bool = False) -> None:
        """Both make a call at the same time, or one is killed in the middle of its; then both have to see the same."""
        calls = [self._next_call(), self._next_call()]
        for worker, sent in zip(self._workers, calls, strict=True):
            worker.send(sent)
        done = []
        for place, sent in enumerate(calls):
            if kills and place == 0:
                time.sleep(self._chance.choice([0, 0.001, 0.003, 0.01, 0.03]) * self._chance.random())
                done.append(Call(sent, self._workers[0].kill()))
                self.counts["killed"] += 1
                continue
            done.append(Call(sent, self._workers[place].answer()))
        if kills:
            self._workers[0] = Worker(self.directory)
        for call in done:
            self.counts[call.sent["name"]] += call.is_done
            if call.answer and "error" in call.answer:
                assert call.answer["code"] in EXPECTED_ERRORS, call
        for user in {call.user for call in done}:
            self._check(user, [call for call in done if call.user == user])
        self._check_searches(done)

    def _next_call(self) -> dict[str, Any]:
        user, [name] = self._chance.choice(USERS), self._chance.choices(NAMES, WEIGHTS)
        there = [memory_id for memory_id, text in self.model[user].items() if text != DELETED]
        if name in {"update", "delete", "remove"} and not there:
            name = "add"
        self._number += 1
        count = self._chance.choice([1, 1, 1, 2, 9]) if name == "add" else 1
        texts = [f"note n{self._number}n{part} about tea" for part in range(count)]
        if name == "say":
            texts = [f"I bought a lamp called n{self._number}n."]
        call: dict[str, Any] = {"name": name, "user": user, "texts": texts}
        return call | ({"id": self._chance.choice(there)} if name in {"update", "delete", "remove"} else {})

    def _check(self, user: str, calls: list[Call]) -> None:
        seen = [worker.ask("stored", user) for worker in self._workers]
        assert seen[0] == seen[1], (calls, seen)
        possible = list(self._states(self.model[user], calls))
        # A call that was killed may have stored what nobody was told of.
        untold = [_NAME.findall(text)[0] for call in calls if call.answer is None for text in call.sent["texts"]]
        for memory_id in set().union(seen[0], *possible):
            there = seen[0].get(memory_id)
            allowed = {state.get(memory_id) for state in possible}
            is_untold = (
                there is not None and memory_id not in self.model[user] and any(word in there for word in untold)
            )
            assert there in allowed or is_untold, (memory_id, there, allowed, calls)
        self.model[user] = seen[0]
        self.counts["records checked"] += len(seen[0])

    def _states(self, state: State, calls: list[Call]) -> Iterable[State]:
        """What may be there after calls in any order, where one that was not answered may not have been made."""
        if not calls:
            yield state
            return
        for call in calls:
            rest = [other for other in calls if other is not call]
            if call.is_done or call.answer is None:
                yield from self._states(call.apply(state), rest)
            if not call.is_done:
                yield from self._states(state, rest)

    def _check_searches(self, calls: list[Call]) -> None:
        """What was just added is found by both, unless the other call took it away."""
        for call in calls:
            if call.sent["name"] == "add" and call.is_done and call.answer is not None:
                texts = [text for text in call.answer["gave"].values() if text in self.model[call.user].values()][:2]
                for worker in self._workers:
                    assert worker.ask("find", call.user, texts=texts), (call, texts)
                self.counts["searches checked"] += 2 * len(texts)
