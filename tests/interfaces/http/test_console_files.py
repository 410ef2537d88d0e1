"""The console is served from this package alone, and opens nothing that the routes keep shut."""

from __future__ import annotations

import gzip

import pytest

from ebbing.interfaces.http.routes.pages.console import FILES
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

LARGE = [path for path, file in FILES.items() if file.path.stat().st_size >= 1_024]


@pytest.mark.parametrize("auth_mode", ["auto", "required"])
async def test_the_console_is_served_without_a_key_and_runs_nothing_inline(auth_mode: str) -> None:
    async with service(auth_mode=auth_mode) as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_a_browser_that_has_a_file_is_not_sent_it_again() -> None:
    async with service() as client:
        for path in FILES:
            first = await client.get(path)
            again = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b""), path
            assert again.headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize("path", sorted(FILES))
async def test_a_file_is_kept_for_good_only_where_its_name_changes_with_it(path: str) -> None:
    async with service() as client:
        kept = (await client.get(path)).headers["cache-control"]
    assert ("immutable" in kept) is path.startswith("/assets/")


@pytest.mark.parametrize("path", ["/docs/docs.js", *LARGE])
async def test_a_large_file_is_sent_compressed_to_whoever_takes_that(path: str) -> None:
    async with service() as client:
        plain = await client.get(path, headers={"Accept-Encoding": "identity"})
        refused = await client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
        request = client.build_request("GET", path, headers={"Accept-Encoding": "br, gzip"})
        packed = await client.send(request, stream=True)
        raw = b"".join([part async for part in packed.aiter_raw()])
    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in refused.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == plain.content
    assert packed.headers["etag"] != plain.headers["etag"]
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("auth_mode", ["auto", "required"])
@pytest.mark.parametrize(
    "path", ["/assets/", "/assets/none.js", "/assets/..%2findex.html", "/assets/%2e%2e/%2e%2e/__init__.py"]
)
async def test_an_unknown_file_is_not_found(path: str, auth_mode: str) -> None:
    async with service(auth_mode=auth_mode) as client:
        answer = await client.get(path)
    assert answer.status_code in {401, 404}
    assert "import" not in answer.text


async def test_without_the_console_its_paths_are_unknown_and_the_routes_answer() -> None:
    async with service(console=False) as client:
        assert (await client.get("/")).status_code == 404
        assert (await client.get("/v1/memories?user_id=emma")).status_code == 200
        assert (await client.get("/docs")).status_code == 200


async def test_the_console_opens_no_route_and_is_in_no_description_of_them() -> None:
    async with service(auth_mode="required") as client:
        assert (await client.get("/v1/memories?user_id=emma")).status_code == 401
        assert (await client.post("/", json={})).status_code == 405
        paths = (await client.get("/openapi.json")).json()["paths"]
    assert not {"/", "/assets/{name}"} & paths.keys()
