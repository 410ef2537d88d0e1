"""Breaks calls off at any line that they run, as Ctrl-C may, and says whether what they used is still whole."""

from __future__ import annotations

import linecache
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import ebbing
from ebbing import Memory

HERE = str(Path(ebbing.__file__).parent)
OURS = (HERE, threading.__file__)
"""Files whose lines a call is broken off at: those of the package, and the waiting for threads and locks."""

MANY = 100
"""Memories from which on everything is erased, and begins anew."""
BEHIND_SECONDS = 0.05
"""What another thread began for a call that is broken off may be done a little later."""


class Interrupter:
    """Raises `KeyboardInterrupt` in place of the line of a given number; lines are counted from 1.

    The end of a `with` block is passed over: Python looks for signals there only once the block was left.
    """

    def __init__(self, line: int) -> None:
        self.left = line
        self.place = ""
        """Where it broke off."""
        self._lines: dict[FrameType, int] = {}

    @property
    def is_done(self) -> bool:
        """Whether the line was reached."""
        return bool(self.place)

    def run(self, call: Callable[[], object]) -> None:
        """Runs the call; returns whether or not it was broken off."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            call()
        except KeyboardInterrupt:
            assert self.is_done
        except RuntimeError as error:
            if not isinstance(error.__context__, KeyboardInterrupt):
                raise
            # A condition of the standard library was broken off while it took its lock again.
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        return self._look if frame.f_code.co_filename.startswith(OURS) else None

    def _look(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if event != "line" or self.is_done:
            return self._look
        before, self._lines[frame] = self._lines.get(frame, 0), frame.f_lineno
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if text.startswith(("with ", "async with ")) and before > frame.f_lineno:
            return self._look
        self.left -= 1
        if self.left <= 0:
            self.place = f"{frame.f_code.co_filename.removeprefix(HERE)}:{frame.f_lineno} {text}"
            raise KeyboardInterrupt
        return self._look


class Witness:
    """A memory that is used, broken off and used again, and what it was told is stored."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.known: set[str] = set()
        self.unsure: set[str] = set()
        """Texts of calls that were broken off: they may be there or not."""
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        for text in ("tea with milk", "rain in spring", "a bicycle of steel"):
            self.add(text)
        self.memory.search("tea", user_id="ada")

    def next_text(self) -> str:
        self._number += 1
        return f"note n{self._number}n about tea"  # no year, which a question might name

    def add(self, text: str) -> None:
        self.memory.add(text, user_id="ada", infer=False)
        self.known.add(text)

    def calls(self) -> Iterator[tuple[str, Callable[[str], object]]]:
        """The calls that are broken off, each with a text of its own."""
        memory = self.memory
        yield "add", lambda text: memory.add(text, user_id="ada", infer=False)
        yield "search after a write", lambda _: memory.search("tea", user_id="ada")
        yield "search", lambda _: memory.search("steel", user_id="ada")
        yield "context", lambda _: memory.get_context("tea", user_id="ada")
        yield "facts", lambda text: memory.add(f"I live in Rome. {text}", user_id="bo")
        yield "update", lambda text: memory.update(self._newest(), text, user_id="ada")

    def _newest(self) -> str:
        return str(self.memory.get_all(user_id="ada", limit=1)["results"][0]["id"])

    def check(self) -> None:
        """Whether the memory answers, takes what is new, finds it, and knows all that it acknowledged."""
        text = self.next_text()
        self.add(text)
        found = [item["memory"] for item in self.memory.search(text, user_id="ada", limit=3)["results"]]
        assert text in found, found
        there = self.texts()
        assert self.known - self.unsure <= there <= self.known | self.unsure, there ^ self.known
        self.known, self.unsure = there, set()
        if len(there) > MANY:
            self.memory.delete_all(user_id="ada")
            self.known = set()
            self._begin()
        assert self.memory.get_context("tea", user_id="bo")["memories"] is not None

    def texts(self) -> set[str]:
        """Everything that is stored of the one whose calls are broken off."""
        return {item["memory"] for item in self.memory.get_all(user_id="ada", limit=1_000)["results"]}

    def break_off(self, call: Callable[[str], object], *, line: int) -> Interrupter:
        """One call, broken off at a line of this number if it has so many."""
        text, interrupter = self.next_text(), Interrupter(line)
        self.unsure |= {text, self._newest_text()}  # an update may replace the newest one
        interrupter.run(lambda: call(text))
        if not interrupter.place.startswith(("/adapters", "/index", "/recall", "/remember")):
            time.sleep(BEHIND_SECONDS)
        return interrupter

    def _newest_text(self) -> str:
        return str(self.memory.get_all(user_id="ada", limit=1)["results"][0]["memory"])
