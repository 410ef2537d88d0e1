"""Webhooks reach the internet and nothing that only the service can reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from ebbing.adapters.http.webhook_http import HttpWebhookSender
from ebbing.domain.errors import InvalidInputError
from ebbing.ports.webhook_sender import Delivered

pytestmark = pytest.mark.anyio

HEADERS = {"content-type": "application/json", "webhook-id": "e1"}


def resolving(*addresses: str) -> HttpWebhookSender:
    """A sender for which every name has these addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return HttpWebhookSender(resolve=resolve)


@asynccontextmanager
async def receiver(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server on this machine that notes what it is sent; its address and the requests."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        heard.append(head + await reader.readexactly(length))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://localhost:{port}/hook?a=1", heard


async def test_a_message_arrives_as_it_was_sent_with_the_name_that_was_asked_for() -> None:
    async with receiver(b"HTTP/1.1 204 No Content\r\n\r\n") as (url, heard):
        sender = HttpWebhookSender(private_targets=True)
        assert (await sender.send(url, b'{"a": 1}', headers=HEADERS)).is_accepted
        [request] = heard
        assert request.startswith(b"POST /hook?a=1 HTTP/1.1\r\n")
        assert b"\r\nhost: localhost:" in request.lower()
        assert request.endswith(b'{"a": 1}')
        await sender.aclose()


async def test_a_refusal_is_told_with_how_long_to_wait_and_a_redirect_is_not_followed() -> None:
    sender = HttpWebhookSender(private_targets=True)
    async with receiver(b"HTTP/1.1 503 No\r\nRetry-After: 7\r\n\r\n") as (url, _):
        assert await sender.send(url, b"{}", headers=HEADERS) == Delivered(503, retry_after_seconds=7.0)
    async with receiver(b"HTTP/1.1 302 Found\r\nLocation: http://localhost/secret\r\n\r\n") as (url, heard):
        assert (await sender.send(url, b"{}", headers=HEADERS)).status == 302
        assert len(heard) == 1
    assert (await sender.send(url, b"{}", headers=HEADERS)).reason == "unreachable"
    await sender.aclose()


async def test_a_receiver_that_never_answers_is_given_up() -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    hung = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with hung:
        port = hung.sockets[0].getsockname()[1]
        sender = HttpWebhookSender(private_targets=True, timeout_seconds=0.1)
        assert (await sender.send(f"http://127.0.0.1:{port}/", b"{}", headers=HEADERS)).reason == "timeout"
        await sender.aclose()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "https://localhost/hook",
        "https://a.localhost/",
        "https://printer.local/",
        "https://db.internal/",
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://192.168.0.1/",
        "https://172.16.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://0.0.0.0/",
        "https://100.64.0.1/",
        "https://224.0.0.1/",
        "https://[::1]/",
        "https://[::]/",
        "https://[fd00::1]/",
        "https://[fe80::1%25eth0]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://user:secret@example.org/",
        "ftp://example.org/",
        "https:///hook",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://exa mple.org/",
        "example.org",
        "",
        "https://[bad/",
    ],
)
async def test_an_address_that_is_out_of_bounds_is_refused_at_once(url: str) -> None:
    sender = resolving("93.184.216.34")
    with pytest.raises(InvalidInputError, match="webhook"):
        sender.check(url)
    assert await sender.send(url, b"{}", headers=HEADERS) == Delivered(None, "forbidden_target")


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:10.0.0.1"], ["fd00::1"]]
)
async def test_a_name_that_leads_inside_is_refused_when_it_is_sent_to(addresses: list[str]) -> None:
    sender = resolving(*addresses)
    sender.check("https://example.org/hook")
    done = await sender.send("https://example.org/hook", b"{}", headers=HEADERS)
    assert done == Delivered(None, "forbidden_target")


@pytest.mark.parametrize("url", ["https://2130706433/", "https://0x7f.1/", "https://127.1/"])
async def test_other_spellings_of_an_address_lead_no_further(url: str) -> None:
    sender = resolving("127.0.0.1")  # what the system makes of them
    assert (await sender.send(url, b"{}", headers=HEADERS)).reason == "forbidden_target"


async def test_a_name_without_an_address_is_unreachable() -> None:
    assert (await resolving().send("https://example.org/", b"{}", headers=HEADERS)).reason == "unreachable"


async def test_an_address_of_the_internet_is_allowed() -> None:
    for url in ("https://example.org/hook", "https://93.184.216.34:8443/x", "https://[2606:2800:220:1::1]/"):
        resolving().check(url)
