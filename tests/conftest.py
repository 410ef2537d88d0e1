"""What holds for every test: no network beyond this machine, no settings of the person who runs them."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# Shared and slow machines make a deadline per example a coin toss; time is measured where it is promised.
settings.register_profile("ebbing", deadline=None, print_blob=True)
settings.load_profile("ebbing")

PERSONAL_SETTINGS = ("EBBING_", "MEM0_", "MEMORY_", "OPENAI_", "ANTHROPIC_")


def is_loopback(host: object) -> bool:
    """True for this machine's own addresses and names, and for "any address" (None or empty)."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def refuse(host: object) -> None:
    """Fails the test. Not an OSError: code under test that tolerates a broken network must not hide this."""
    pytest.fail(f"a test tried to reach {host!r}; tests may only reach this machine (use a fake from ebbing.testing)")


@pytest.fixture(scope="session", autouse=True)
def network_is_out_of_reach() -> Iterator[None]:
    """Makes a real model or server impossible to reach by accident; loopback and Unix sockets stay open."""
    real_connect, real_connect_ex = socket.socket.connect, socket.socket.connect_ex
    real_getaddrinfo = socket.getaddrinfo

    def guarded(real: Any) -> Any:
        def connect(sock: socket.socket, address: Any) -> Any:
            if sock.family in {socket.AF_INET, socket.AF_INET6} and not is_loopback(address[0]):
                refuse(address[0])
            return real(sock, address)

        return connect

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_loopback(host):
            refuse(host)
        return real_getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(real_connect))
        patch.setattr(socket.socket, "connect_ex", guarded(real_connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


@pytest.fixture(scope="session", autouse=True)
def settings_of_this_machine_are_unset() -> Iterator[None]:
    """A developer's own EBBING_* or OPENAI_* variables change no result, here or in a subprocess."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(PERSONAL_SETTINGS):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests of async code are marked `@pytest.mark.anyio` and run on asyncio, the one loop that is supported."""
    return "asyncio"
