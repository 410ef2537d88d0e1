"""`ebbing serve` on a database server that goes away: 503 with Retry-After meanwhile, and well again by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import URL

from ebbing.adapters.sql.connection.schema import open_schema
from tests.live_service import served
from tests.own_servers import PASSWORD, OwnServer, line_to, needs_program, own_server

pytestmark = pytest.mark.extended
SERVERS = [pytest.param(name, marks=needs_program(name)) for name in ("postgres", "mariadb")]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    with own_server(request.param) as server:
        open_schema(server.address)  # the tables may take their time: the service gives the server little
        yield server


def settings(address: URL) -> dict[str, str]:
    store = address.render_as_string(hide_password=False)
    return {"EBBING_STORE": store, "EBBING_EMBEDDER": "none", "EBBING_STORE_TIMEOUT_SECONDS": "3"}


def add(http: httpx.Client, text: str) -> httpx.Response:
    messages = [{"role": "user", "content": text}]
    return http.post("/v1/memories", json={"user_id": "ada", "messages": messages, "infer": False})


def search(http: httpx.Client, text: str) -> httpx.Response:
    return http.post("/v1/memories/search", json={"user_id": "ada", "query": text})


def check_refusals(http: httpx.Client) -> None:
    """Reading and writing are refused for now, and say when to try again."""
    for refused in (add(http, "this is lost"), search(http, "tea")):
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["code"] == "store"
        assert PASSWORD not in refused.text


def check_well_again(http: httpx.Client, *texts: str) -> None:
    """Within some seconds it answers as before: with what it acknowledged, and with nothing of what it refused."""
    end = time.monotonic() + 60
    while search(http, "tea").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.2)
    listed = http.get("/v1/memories", params={"user_id": "ada"}).text
    assert all(text in listed for text in texts)
    assert "this is lost" not in listed
    assert add(http, "well again").status_code in {200, 201}


def test_a_server_that_is_stopped_and_started_again(server: OwnServer, tmp_path: Path) -> None:
    with served(tmp_path, settings=settings(server.address)) as service:
        with httpx.Client(base_url=service.address, timeout=60) as http:
            assert add(http, "I drink green tea").status_code in {200, 201}
            server.stop()
            check_refusals(http)
            server.start()
            check_well_again(http, "green tea")
        service.stop()
        assert PASSWORD not in service.process.stderr.read()


def test_a_server_that_says_nothing_for_a_while(server: OwnServer, tmp_path: Path) -> None:
    with (
        line_to(server.port) as line,
        served(tmp_path, settings=settings(server.address.set(port=line.port))) as service,
        httpx.Client(base_url=service.address, timeout=60) as http,
    ):
        assert add(http, "I like jasmine").status_code in {200, 201}
        line.stall()
        check_refusals(http)
        assert http.get("/healthz", timeout=10).status_code == 200
        line.go_on()
        check_well_again(http, "jasmine")
