"""What holds for every test: no network beyond this machine, no settings of the person who runs them."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.examples import USUAL_EXAMPLES

# Every run tries the same examples, so that a failure belongs to a change. `make test-random` looks for new ones.
# Shared and slow machines make a deadline per example a coin toss; time is measured where it is promised.
usual = settings(derandomize=True, deadline=None, print_blob=True, max_examples=USUAL_EXAMPLES)
settings.register_profile("usual", usual)
settings.register_profile("few", usual, max_examples=USUAL_EXAMPLES // 4)
settings.register_profile("random", usual, derandomize=False, max_examples=USUAL_EXAMPLES * 5)
settings.load_profile("usual")

PERSONAL_SETTINGS = (
    *("EBBING_", "MEM0_", "MEMORY_", "OPENAI_", "ANTHROPIC_", "DEEPSEEK_", "DASHSCOPE_", "ZHIPUAI_", "ZAI_", "GROQ_"),
    *("TOGETHER_", "XAI_", "MOONSHOT_", "CO_API_", "COHERE_", "JINA_", "VOYAGE_", "GITEE_AI_"),
)


def is_loopback(host: object) -> bool:
    """True for this machine's own addresses and name, and for "any address" (None or empty)."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


class NetworkRefusedError(RuntimeError):
    """Not an OSError: code under test that tolerates a broken network must not take this for one."""


@pytest.fixture(scope="session", autouse=True)
def usual_priority() -> Iterator[None]:
    """A worker that is run inside a test steps back in the queue for the processor: the tests after it would too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "nice", lambda by: by, raising=False)
        yield


@pytest.fixture(scope="session")
def guarded_network() -> Iterator[list[str]]:
    """Refuses every connection beyond this machine; gives the hosts that were tried. Unix sockets stay open."""
    tried: list[str] = []
    real_getaddrinfo = socket.getaddrinfo

    def check(host: Any) -> None:
        if not is_loopback(host):
            tried.append(str(host))
            raise NetworkRefusedError(f"{host} is not this machine: tests use a fake from ebbing.testing instead")

    def guarded(real: Any) -> Any:
        def connect(sock: socket.socket, address: Any) -> Any:
            if sock.family in {socket.AF_INET, socket.AF_INET6}:
                check(address[0])
            return real(sock, address)

        return connect

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        check(host)
        return real_getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex"):
            patch.setattr(socket.socket, method, guarded(getattr(socket.socket, method)))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield tried


@pytest.fixture(autouse=True)
def refused_hosts(guarded_network: list[str]) -> Iterator[list[str]]:
    """Fails a test that tried to leave this machine, even if the code under test swallowed the refusal."""
    guarded_network.clear()
    yield guarded_network
    if guarded_network:
        pytest.fail(f"the test tried to reach {', '.join(guarded_network)}; tests may only reach this machine")


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
