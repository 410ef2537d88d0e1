"""`ebbing serve` in a process of its own, for tests that need a real socket, a signal or a kill."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import perf_counter

PROGRAM = "from ebbing.interfaces.cli.app import main; main()"
START_SECONDS = 60


@dataclass
class Served:
    """A running service."""

    process: subprocess.Popen[str]
    address: str
    said: list[str]
    """What it printed until it was ready."""
    seconds: float
    """How long that took."""

    def stop(self) -> int:
        """Asks it to end, as Ctrl-C does not but a supervisor would; its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=30)


@contextmanager
def served(
    path: Path,
    *options: str,
    settings: Mapping[str, str] | None = None,
    log: Path | None = None,
    program: str = PROGRAM,
) -> Iterator[Served]:
    """`ebbing serve` on a free port of this machine; killed at the end if it still runs.

    Args:
        log: a file for what it logs, where that may be much; else it is in the process's `stderr`.
        program: another one that takes the same command.
    """
    mine = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}
    environment = {**mine, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(settings or {})}
    command = [sys.executable, "-c", program, "serve", "--path", str(path), "--port", "0", *options]
    start = perf_counter()
    with ExitStack() as stack:
        errors = subprocess.PIPE if log is None else stack.enter_context(log.open("w"))
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        said = _until_ready(process, log)
        address = next(word for line in said for word in line.split() if word.startswith("http://"))
        yield Served(process, address, said, perf_counter() - start)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _until_ready(process: subprocess.Popen[str], log: Path | None) -> list[str]:
    """The lines it prints, up to the last of the requests to try."""
    lines: Queue[str | None] = Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    Thread(target=read, daemon=True).start()
    said: list[str] = []
    while sum("curl" in line for line in said) < 3:
        try:
            line = lines.get(timeout=START_SECONDS)
        except Empty:
            raise AssertionError(f"the service did not start: {said}") from None
        if line is None:
            error = process.stderr.read() if process.stderr else log and log.read_text()
            raise AssertionError(f"the service ended: {said} {error}")
        said.append(line)
    return said
