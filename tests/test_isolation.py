"""The guards of tests/conftest.py hold: otherwise a test could reach a real model and nobody would notice."""

from __future__ import annotations

import os
import socket

import anyio
import pytest

SOMEWHERE = "192.0.2.1"  # reserved for documentation (RFC 5737): nothing answers there


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_connection_to_another_machine_is_refused(method: str, refused_hosts: list[str]) -> None:
    with socket.socket() as sock, pytest.raises(RuntimeError, match="not this machine"):
        getattr(sock, method)((SOMEWHERE, 443))
    assert refused_hosts == [SOMEWHERE]
    refused_hosts.clear()


def test_a_name_on_the_internet_is_not_even_looked_up(refused_hosts: list[str]) -> None:
    with pytest.raises(RuntimeError, match="not this machine"):
        socket.create_connection(("api.example.com", 443))
    assert refused_hosts == ["api.example.com"]
    refused_hosts.clear()


@pytest.mark.anyio
async def test_async_code_is_held_back_too(refused_hosts: list[str]) -> None:
    with pytest.raises(BaseException, match=r"not this machine|TaskGroup"):
        await anyio.connect_tcp(SOMEWHERE, 443)
    assert refused_hosts == [SOMEWHERE]
    refused_hosts.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_machine_may_be_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection((host, server.getsockname()[1])):
        pass


def test_no_setting_of_the_developer_leaks_into_tests() -> None:
    assert not [name for name in os.environ if name.startswith(("EBBING_", "OPENAI_"))]
