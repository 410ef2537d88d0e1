"""The API reference at /docs comes from this package alone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.request import urlopen

import pytest

from ebbing.interfaces.http.routes.pages.reference import FILES
from ebbing.interfaces.http.schema.openapi import operations_of
from tests.interfaces.http.service import service as served_here
from tests.registry_clients import node_with, service, succeed

HERE = Path(__file__).parent
MEDIA_TYPES = {"/docs": "text/html", "/docs/docs.css": "text/css", "/docs/docs.js": "text/javascript"}


@pytest.mark.anyio
@pytest.mark.parametrize("path", sorted(FILES))
async def test_the_reference_names_no_other_host_and_runs_nothing_inline(path: str) -> None:
    async with served_here() as client:
        answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(MEDIA_TYPES[path])
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", answer.text)
    assert not re.search(r"<script>|\son\w+=|style=|innerHTML|\beval\b", answer.text)


@pytest.mark.anyio
async def test_every_file_that_the_reference_loads_is_served_without_a_key() -> None:
    async with served_here(auth_mode="required") as client:
        page = (await client.get("/docs")).text
        for name in re.findall(r'(?:src|href)="([^"]+)"', page):
            assert (await client.get(f"/{name}")).status_code == 200, name


@pytest.mark.extended
def test_the_reference_shows_every_operation_and_sends_requests(tmp_path: Path) -> None:
    folder = node_with("reference-page", "jsdom@26")
    shutil.copy(HERE / "reference_page.mjs", folder)
    with service(tmp_path) as address:
        shown = json.loads(succeed(["node", "reference_page.mjs", address], folder=folder))
        with urlopen(f"{address}/openapi.json", timeout=30) as answer:
            document = json.load(answer)
    assert shown["operations"] == len([*operations_of(document)]) > 90
    assert all(url.startswith(address) for url in shown["asked"])
    assert shown["answer"].startswith("200 OK"), shown["answer"]
    assert "recall_id" in shown["answer"]
