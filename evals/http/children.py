"""Services in processes of their own, and what they have cost so far."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import psutil

START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Child:
    """A service that answers."""

    process: subprocess.Popen[str]
    address: str
    seconds: float
    """From its start to its first 200 of the path that tells."""
    cpu_seconds: float
    """What it had computed by then: what the start takes on a machine with nothing else to do."""

    def cpu(self) -> float:
        """Seconds of CPU, its own and the kernel's, of all its threads since it began."""
        return _cpu(self.process)

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def ebbing(folder: Path, *, settings: Mapping[str, str] | None = None) -> Iterator[Child]:
    """`ebbing serve` over this store with its default settings but these."""
    program = "from ebbing.interfaces.cli.app import main; main()"
    command = [sys.executable, "-c", program, "serve", "--path", str(folder), "--port", "0"]
    with _child(command, ready="/readyz", settings=settings or {}) as child:
        yield child


@contextmanager
def plain(answers: Path) -> Iterator[Child]:
    """The bare routes over these answers."""
    with _child([sys.executable, "-m", "evals.http.plain", str(answers)], ready="/openapi.json", settings={}) as child:
        yield child


@contextmanager
def _child(command: Sequence[str], *, ready: str, settings: Mapping[str, str]) -> Iterator[Child]:
    """A child that is killed at the end, if it still runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")} | {**settings}
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as log:  # a line a request: too much for a terminal, and written all the same
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            address = _address(process)
            while address is not None and not _answers(address, ready):
                if time.perf_counter() - began > START_SECONDS or process.poll() is not None:
                    address = None
                time.sleep(0.01)
            if address is None:
                raise RuntimeError(f"{command} is not ready: {_end_of(log)}")
            yield Child(process, address, time.perf_counter() - began, _cpu(process))
        finally:
            process.terminate()
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _end_of(log: IO[str]) -> str:
    log.seek(0)
    return log.read()[-2_000:]


def _cpu(process: subprocess.Popen[str]) -> float:
    if sys.platform == "linux":
        return time.clock_gettime((~process.pid << 3) | 2)  # its clock by clock_getcpuclockid(3): no rounding to 10 ms
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def _address(process: subprocess.Popen[str]) -> str | None:
    """What it prints of where it answers; None if it ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith("http://"):
                return word
    return None


def _answers(address: str, path: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
