"""Starting the service: where it listens, and whom it tells when it is ready."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

import uvicorn

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.http.app import create_app
from ebbing.interfaces.http.middleware.auth import Doorkeeper
from ebbing.interfaces.http.worker import ServiceWorker, WorkerApart
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import Components, build
from ebbing.wiring.components.telemetry import log_as
from ebbing.wiring.config.earlier_names import superseded_names
from ebbing.wiring.config.hook_settings import forget_service, note_service
from ebbing.wiring.config.settings import Settings

_log: Final = logging.getLogger("ebbing.http")
_YOUNG: Final = 10_000
"""New objects after which Python looks for garbage among them; 700 unless told, which are those of three requests."""
_IDLE_SECONDS: Final = 75
"""How long a connection may be idle. Load balancers and clients keep theirs for 60 seconds at most, as a rule: so what
they send on one does not meet its end."""

_NEAR: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - nothing listens by this
"""How this machine reaches a service that listens on every address."""


class Started(Protocol):
    """Hears that the service answers."""

    def __call__(self, address: str, *, is_open: bool) -> None:
        """`is_open`: whoever can reach it may do everything."""
        ...


def serve(settings: Settings, *, started: Started) -> None:
    """Answers requests until it is stopped (Ctrl-C, SIGTERM); then finishes those under way.

    Args:
        started: told once it answers.

    Raises:
        ConfigurationError: it would listen beyond this machine without asking for credentials, or cannot listen.
        StoreError: the store cannot be opened.
    """
    usual = {"metrics": True, "defer_embeddings": True}
    settings = settings.model_copy(update={k: v for k, v in usual.items() if k not in settings.model_fields_set})
    log_as(settings)
    for sentence in superseded_names():
        _log.warning(sentence)
    memory = AsyncMemory(components=build(settings))
    try:
        is_open = _is_open(settings, memory.components)
        listener, app = _listener(settings), create_app(memory, worker=_worker(settings))
    except BaseException:
        asyncio.run(memory.close())
        raise
    port = listener.getsockname()[1]
    config = uvicorn.Config(
        app,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # who connected decides whom a trusted header is believed from
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=settings.http_shutdown_timeout_seconds,
    )
    with suppress(KeyboardInterrupt):  # uvicorn has done what it means by then, and raises it once more
        started_here = partial(_announce, settings, port, started=started, is_open=is_open)
        _Server(config, started_here, stopping=partial(forget_service, settings.path)).run(sockets=[listener])


def _announce(settings: Settings, port: int, *, started: Started, is_open: bool) -> None:
    """Tell who started the service where it answers, and say it in the store's directory for hooks of this machine."""
    host = f"[{settings.http_host}]" if ":" in settings.http_host else settings.http_host
    if settings.store == "sqlite":
        note_service(settings.path, f"http://{_NEAR.get(host, host)}:{port}")
    started(f"http://{host}:{port}", is_open=is_open)


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _is_open(settings: Settings, components: Components) -> bool:
    """Whether nobody will be asked for anything, which is refused where others can connect."""
    doorkeeper = Doorkeeper(settings, keys=components.store.keys, clock=components.clock)
    is_open = asyncio.run(doorkeeper.is_open())
    if is_open and not is_loopback(settings.http_host):
        raise ConfigurationError(
            f"without credentials the service listens on this machine only, and {settings.http_host} is more: "
            "make a key first (ebbing keys create), or leave --host out"
        )
    return is_open


def _worker(settings: Settings) -> ServiceWorker | None:
    """A worker in a process of its own, where the memory is one that processes can share."""
    return WorkerApart(settings) if settings.worker_process and settings.store != "ephemeral" else None


class _Server(uvicorn.Server):
    """Tells when it answers, and when it no longer will."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], *, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started, self._tell_stopping = started, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self.started:
            # What is there now stays to the end: the collector of garbage need not look through it, nor so often.
            gc.freeze()
            gc.set_threshold(_YOUNG, 20, 20)
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finishes what is under way. A signal ends the process right after it, so nothing is left for later."""
        self._tell_stopping()
        await super().shutdown(sockets)


def _listener(settings: Settings) -> socket.socket:
    host, port = settings.http_host.strip("[]"), settings.http_port
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}): stop what uses it, or give a --port"
        ) from error
