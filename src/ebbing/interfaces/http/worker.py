"""Who does the upkeep's jobs beside a service: a process that ends with it, or the service itself.

Run as `python -m ebbing.interfaces.http.worker` it is that process: it reads its settings from the first line of its
standard input, and works until there is no more to read, which is when whoever started it has ended, however.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from contextlib import suppress
from datetime import timedelta
from typing import Final, Literal, Protocol

import anyio

from ebbing.domain.errors import StoreClosedError
from ebbing.memory import AsyncMemory
from ebbing.resilience.retry import pause_after
from ebbing.upkeep.worker.stop_signal import Stop
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.components.process_priority import yield_processor
from ebbing.wiring.components.telemetry import log_as
from ebbing.wiring.config.settings import Settings, handed_on

_PAUSE_SECONDS: Final = 5.0
_FIRST_PAUSE: Final = timedelta(seconds=2)
_LONGEST_PAUSE: Final = timedelta(minutes=5)
_STEADY_SECONDS: Final = 600.0
"""A process that lived so long did not fail at once: the next one is started as after a first failure."""
_WATCHED_SECONDS: Final = 3_600.0
_SHARDS_MIB: Final = 32
"""A round goes through everybody's rows once: what it has behind it need not stay in RAM."""
_log: Final = logging.getLogger("ebbing.worker")

Standing = Literal["disabled", "in_process", "subprocess", "restarting"]
"""Off; in the service's process; in one of its own; the latter has ended and is about to be started again."""


class ServiceWorker(Protocol):
    """Does the upkeep's jobs while a service runs."""

    @property
    def standing(self) -> Standing:
        """Where it works now."""
        ...

    async def keep_on(self, stop: Stop) -> None:
        """Works until `stop` is set; what goes wrong is told and tried again. Cancelled, it drops what is in hand."""
        ...


class WorkerInside:
    """Works in the process that answers: for services that have no file to share, or are part of another program."""

    standing: Standing = "in_process"

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def keep_on(self, stop: Stop) -> None:
        """See `ServiceWorker`."""
        while not stop.is_set:
            try:
                await self._memory.jobs.run_worker(stop=stop)
            except StoreClosedError:
                return
            except Exception as error:  # the worker must not end while the service goes on
                _log.error("the worker failed with %s and begins anew", type(error).__name__)
                await stop.wait(_PAUSE_SECONDS)


class WorkerApart:
    """Works in a process of its own, so that who is answered never waits for Python's one lock.

    Where that process ends by itself another one is started, each time after a longer pause.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.standing: Standing = "restarting"

    async def keep_on(self, stop: Stop) -> None:
        """See `ServiceWorker`."""
        failures = 0
        while not stop.is_set:
            began = anyio.current_time()
            code = await self._live(stop)
            self.standing = "restarting"
            failures = 1 if anyio.current_time() - began > _STEADY_SECONDS else failures + 1
            if not stop.is_set:
                pause = pause_after(failures, first=_FIRST_PAUSE, longest=_LONGEST_PAUSE, share=1.0)
                _log.warning("the worker's process ended with %s: another one follows", code)
                await stop.wait(pause.total_seconds())

    async def _live(self, stop: Stop) -> int | str:
        """The life of one process; how it ended."""
        command = (sys.executable, "-m", __name__)
        try:
            # In a session of its own: a Ctrl-C is for the service, which then lets the worker end in order.
            process = await create_subprocess_exec(*command, stdin=PIPE, start_new_session=True)
        except OSError as error:
            return type(error).__name__
        try:
            await self._hand_over(process)
            self.standing = "subprocess"
            return await _watched(process, stop)
        finally:
            if process.returncode is None:
                process.kill()

    async def _hand_over(self, process: Process) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError):  # it has ended already, which is seen soon enough
            process.stdin.write(f"{handed_on(self._settings)}\n".encode())
            await process.stdin.drain()


async def _watched(process: Process, stop: Stop) -> int:
    """The exit code of a process, which is asked to end when `stop` is set."""
    assert process.stdin is not None
    ended = asyncio.ensure_future(process.wait())
    try:
        while not ended.done() and not stop.is_set:
            stop_wait = asyncio.ensure_future(stop.wait(_WATCHED_SECONDS))
            await asyncio.wait({ended, stop_wait}, return_when=asyncio.FIRST_COMPLETED)
            stop_wait.cancel()
        process.stdin.close()
        return await ended
    finally:
        ended.cancel()


def modest(settings: Settings) -> Settings:
    """The settings for a process that only works."""
    return settings.model_copy(update={"shard_cache_mib": min(settings.shard_cache_mib, _SHARDS_MIB)})


def main() -> None:
    """Works for the service that started this process, until that ends."""
    settings = modest(load_settings(json.loads(sys.stdin.readline())))
    log_as(settings)
    yield_processor()
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=_until_let_go, args=(stop,), daemon=True).start()
    asyncio.run(_work(settings, stop))


def _until_let_go(stop: Stop) -> None:
    """Sets `stop` when nobody holds the other end of the standard input any more."""
    sys.stdin.read()
    stop.set()


async def _work(settings: Settings, stop: Stop) -> None:
    async with AsyncMemory(components=build(settings)) as memory:
        await WorkerInside(memory).keep_on(stop)


if __name__ == "__main__":
    main()
