"""Who may do what: credentials decide it, bodies and queries never widen it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from ebbing.domain.errors import ConfigurationError
from ebbing.sync import Memory
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

ROOT = {"authorization": "Bearer root"}
SECRET = "a shared secret of more than 32 bytes"
LIST = "/v1/memories?user_id=emma"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def token(secret: Any = SECRET, algorithm: str = "HS256", **claims: Any) -> dict[str, str]:
    """A token for emma that holds for a minute, unless the claims say otherwise; None leaves a claim out."""
    every = {"sub": "emma", "exp": datetime.now(UTC) + timedelta(minutes=1), **claims}
    return bearer(jwt.encode({name: value for name, value in every.items() if value is not None}, secret, algorithm))


async def test_no_credential_and_a_wrong_one_are_refused_alike() -> None:
    async with service(service_api_key="right") as client:
        for headers in ({}, bearer("wrong"), {"x-api-key": "wrong"}, {"authorization": "Basic cjpx"}):
            answer = await client.get(LIST, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
            assert "ebbing keys create" in answer.json()["hint"]
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_key_is_taken_from_each_header_that_clients_use() -> None:
    async with service(service_api_key="right") as client:
        for name, value in (
            ("authorization", "Bearer right"),
            ("authorization", "Token right"),
            ("authorization", "token right"),
            ("x-api-key", "right"),
        ):
            assert (await client.get(LIST, headers={name: value})).status_code == 200, value


async def test_a_key_made_over_http_opens_what_it_says_and_is_never_shown_again() -> None:
    async with service(service_api_key="root") as client:
        made = (await client.post("/v1/keys", json={"role": "read", "note": "a dashboard"}, headers=ROOT)).json()
        assert made["key"].startswith("ebb_")
        reader = bearer(made["key"])
        assert (await client.get(LIST, headers=reader)).status_code == 200
        refused = await client.post("/v1/memories", json={"user_id": "emma", "text": "tea"}, headers=reader)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        [listed] = (await client.get("/v1/keys", headers=ROOT)).json()["keys"]
        assert "key" not in listed
        assert made["key"] not in str(listed)
        assert (await client.delete(f"/v1/keys/{made['id']}", headers=ROOT)).json()["revoked_at"]
        assert (await client.get(LIST, headers=reader)).status_code == 401


async def test_the_first_key_closes_the_door_and_the_last_revoked_does_not_open_it(tmp_path: Path) -> None:
    async with service(tmp_path) as client:
        assert (await client.get(LIST)).status_code == 200
        with Memory(tmp_path, embedder="none") as elsewhere:  # as `ebbing keys create` in another process
            made = elsewhere.api_keys.create()
            assert (await client.get(LIST)).status_code == 401
            assert (await client.get(LIST, headers=bearer(made["key"]))).status_code == 200
            elsewhere.api_keys.revoke(made["id"])
        assert (await client.get(LIST, headers=bearer(made["key"]))).status_code == 401
        assert (await client.get(LIST)).status_code == 401
    async with service(tmp_path) as client:
        assert (await client.get(LIST)).status_code == 401


async def test_a_key_ends_when_it_was_made_to(tmp_path: Path) -> None:
    async with service(tmp_path, service_api_key="root") as client:
        body = {"expires_in_days": 1e-9}
        made = (await client.post("/v1/keys", json=body, headers=ROOT)).json()
        answer = await client.get(LIST, headers=bearer(made["key"]))
        assert (answer.status_code, answer.json()["detail"]) == (401, "this key has expired")


async def test_a_key_of_one_user_opens_nothing_else() -> None:
    async with service(service_api_key="root") as client:
        made = (await client.post("/v1/keys", json={"user_id": "emma"}, headers=ROOT)).json()
        hers, his = bearer(made["key"]), {"user_id": "bob"}
        bobs = (await client.post("/v1/memories", json={"text": "black tea", **his}, headers=ROOT)).json()["id"]
        added = (await client.post("/v1/memories", json={"text": "green tea"}, headers=hers)).json()["id"]
        assert (await client.get(f"/v1/memories/{added}", headers=hers)).json()["user_id"] == "emma"
        unknown = await client.get("/v1/memories/01a1ff00-0000-7000-8000-000000000000", headers=hers)
        foreign = await client.get(f"/v1/memories/{bobs}", headers=hers)
        assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json())
        for method, path, body in (
            ("POST", "/v1/memories", {"text": "x", **his}),
            ("POST", "/v1/memories/search", {"query": "tea", **his}),
            ("GET", "/v1/memories?user_id=bob", None),
            ("GET", f"/v1/memories/{bobs}?user_id=bob", None),
            ("GET", "/v1/keys", None),
        ):
            answer = await client.request(method, path, json=body, headers=hers)
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), path
        filters = {"OR": [{"user_id": "bob"}, {"user_id": "emma"}]}
        found = await client.post("/v1/memories/search", json={"query": "tea", "filters": filters}, headers=hers)
        assert [hit["text"] for hit in found.json()["memories"]] == ["green tea"]
        demanded = {"query": "tea", "filters": {"user_id": "bob"}}
        assert (await client.post("/v1/memories/search", json=demanded, headers=hers)).status_code == 400


async def test_a_key_of_one_tenant_sees_nothing_of_another(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        keys = {name: memory.for_tenant(name).api_keys.create("admin")["key"] for name in ("acme", "globex")}
    async with service(tmp_path) as client:
        acme, globex = bearer(keys["acme"]), bearer(keys["globex"])
        body = {"user_id": "emma", "text": "green tea"}
        added = (await client.post("/v1/memories", json=body, headers=acme)).json()["id"]
        assert (await client.get(LIST, headers=globex)).json()["memories"] == []
        for method, path in (
            ("GET", f"/v1/memories/{added}"),
            ("PUT", f"/v1/memories/{added}"),
            ("DELETE", f"/v1/memories/{added}"),
            ("POST", f"/v1/memories/{added}/restore"),
            ("GET", f"/v1/memories/{added}/explain"),
        ):
            answer = await client.request(method, path, headers=globex, json={"text": "x"} if method == "PUT" else None)
            assert answer.status_code == 404, path
        [mine] = (await client.get("/v1/keys", headers=globex)).json()["keys"]
        assert (await client.delete(f"/v1/keys/{mine['id']}", headers=acme)).status_code == 404
        assert (await client.get(f"/v1/memories/{added}", headers=acme)).json()["text"] == "green tea"


@pytest.mark.parametrize(
    "body", [{"role": "king"}, {"role": "admin", "user_id": "emma"}, {"expires_in_days": -1}, {"note": "x" * 1_001}]
)
async def test_an_unusable_key_is_not_made(body: dict[str, Any]) -> None:
    async with service() as client:
        assert (await client.post("/v1/keys", json=body)).status_code in {400, 413}
        assert (await client.get("/v1/keys")).json() == {"keys": []}


async def test_a_token_opens_its_subjects_memory_alone() -> None:
    async with service(jwt_key=SECRET) as client:
        added = await client.post("/v1/memories", json={"text": "green tea"}, headers=token())
        path = f"/v1/memories/{added.json()['id']}"
        assert (await client.get(path, headers=token())).json()["user_id"] == "emma"
        assert (await client.get(path, headers=token(sub="bob"))).status_code == 404
        widened = await client.get("/v1/memories?user_id=bob", headers=token())
        assert widened.status_code == 403
        assert (await client.get("/v1/keys", headers=token())).status_code == 403


@pytest.mark.parametrize(
    ("claims", "secret", "algorithm"),
    [
        ({"exp": datetime(2020, 1, 1, tzinfo=UTC)}, SECRET, "HS256"),
        ({"exp": None}, SECRET, "HS256"),
        ({"sub": None}, SECRET, "HS256"),
        ({"sub": " "}, SECRET, "HS256"),
        ({"aud": "another"}, SECRET, "HS256"),
        ({"iss": "another"}, SECRET, "HS256"),
        ({"tenant": None}, SECRET, "HS256"),
        ({"role": "king"}, SECRET, "HS256"),
        ({"role": None}, SECRET, "HS256"),
        ({"nbf": datetime(2120, 1, 1, tzinfo=UTC)}, SECRET, "HS256"),
        ({}, "another secret of more than 32 bytes", "HS256"),
        ({}, SECRET * 2, "HS512"),
        ({}, None, "none"),
    ],
)
async def test_a_token_that_does_not_hold_is_refused(claims: dict[str, Any], secret: Any, algorithm: str) -> None:
    asked = {"jwt_audience": "ebbing", "jwt_issuer": "idp", "jwt_tenant_claim": "tenant", "jwt_role_claim": "role"}
    good = {"aud": "ebbing", "iss": "idp", "tenant": "acme", "role": "read"}
    async with service(jwt_key=SECRET, **asked) as client:
        assert (await client.get("/v1/memories", headers=token(**good))).status_code == 200
        answer = await client.get("/v1/memories", headers=token(secret, algorithm, **{**good, **claims}))
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


async def test_a_token_says_tenant_and_role_where_the_settings_name_the_claims(tmp_path: Path) -> None:
    claims = {"jwt_tenant_claim": "org", "jwt_role_claim": "role"}
    async with service(tmp_path, jwt_key=SECRET, **claims) as client:
        acme = {"org": "acme"}
        body = {"text": "green tea"}
        assert (await client.post("/v1/memories", json=body, headers=token(role="write", **acme))).status_code == 200
        assert (await client.post("/v1/memories", json=body, headers=token(role="read", **acme))).status_code == 403
        assert (await client.get("/v1/keys", headers=token(role="admin", **acme))).status_code == 403
        listed = await client.get("/v1/memories", headers=token(role="read", org="globex"))
        assert listed.json()["memories"] == []


async def test_a_public_key_checks_tokens_and_signs_none() -> None:
    private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    public = private.public_key().public_bytes(*form).decode()
    async with service(jwt_key=public, jwt_algorithms="RS256") as client:
        assert (await client.get("/v1/memories", headers=token(private, "RS256"))).status_code == 200
        assert (await client.get("/v1/memories", headers=token(SECRET, "HS256"))).status_code == 401


@pytest.mark.parametrize(
    "settings",
    [
        {"jwt_key": "short"},
        {"jwt_key": SECRET, "jwt_algorithms": "none"},
        {"jwt_key": SECRET, "jwt_algorithms": ""},
        {"jwt_key": SECRET, "jwt_algorithms": "HS256,RS256"},
        {"jwt_key": SECRET, "jwt_algorithms": "RS256"},
        {"jwt_key": "-----BEGIN PUBLIC KEY----- " + SECRET, "jwt_algorithms": "HS256"},
        {"trusted_header": "x-user-id", "trusted_proxies": "somewhere"},
    ],
)
async def test_a_door_that_could_be_fooled_is_not_opened(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        async with service(**settings):
            raise AssertionError("it opened")


async def test_a_trusted_header_names_the_user_for_good() -> None:
    async with service(trusted_header="x-user-id") as client:
        emma = {"x-user-id": "emma"}
        added = await client.post("/v1/memories", json={"text": "green tea"}, headers=emma)
        assert added.status_code == 200
        path = f"/v1/memories/{added.json()['id']}"
        assert (await client.get(path, headers=emma)).json()["user_id"] == "emma"
        assert (await client.get(path, headers={"x-user-id": "bob"})).status_code == 404
        widened = await client.post("/v1/memories", json={"text": "x", "user_id": "bob"}, headers=emma)
        assert (widened.status_code, widened.json()["code"]) == (403, "forbidden")
        assert (await client.get(path)).status_code == 401


async def test_a_trusted_header_that_is_not_utf_8_names_nobody() -> None:
    async with service(trusted_header="x-user-id") as client:
        for name in (b"Ren\xe9", b"Ren\xe8"):
            refused = await client.get("/v1/memories", headers={b"x-user-id": name})
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")


async def test_a_header_is_believed_from_trusted_proxies_alone() -> None:
    trusted = {"trusted_header": "x-user-id", "trusted_proxies": "10.0.0.0/8"}
    for peer, status in (("127.0.0.1", 200), ("10.1.2.3", 200), ("192.0.2.1", 401), ("testserver", 401)):
        async with service(peer=peer, **trusted) as client:
            headers = {"x-user-id": "emma", "x-forwarded-for": "127.0.0.1"}
            assert (await client.get("/v1/memories", headers=headers)).status_code == status, peer


async def test_a_header_beside_a_key_narrows_it_and_never_widens_it() -> None:
    async with service(service_api_key="root", trusted_header="x-user-id") as client:
        narrowed = {**ROOT, "x-user-id": "emma"}
        assert (await client.get("/v1/memories", headers=narrowed)).status_code == 200
        assert (await client.get("/v1/memories?user_id=bob", headers=narrowed)).status_code == 403
        assert (await client.get("/v1/keys", headers=narrowed)).status_code == 403
        made = (await client.post("/v1/keys", json={"user_id": "emma"}, headers=ROOT)).json()
        widened = {**bearer(made["key"]), "x-user-id": "bob"}
        assert (await client.get("/v1/memories", headers=widened)).status_code == 403


async def test_administrative_acts_are_kept_with_who_and_how_it_ended() -> None:
    async with service(service_api_key="root") as client:
        made = (await client.post("/v1/keys", json={"user_id": "emma", "note": "hers"}, headers=ROOT)).json()
        await client.delete("/v1/keys/unknown", headers=ROOT)
        await client.post("/v1/keys", json={}, headers=bearer(made["key"]))
        acts = (await client.get("/v1/audit", headers=ROOT)).json()["acts"]
        assert [(act["actor"], act["action"], act["target"], act["outcome"]) for act in acts] == [
            (f"key:{made['id']}", "POST /v1/keys", None, "403"),
            ("api_key", "DELETE /v1/keys/{key_id}", None, "404"),
            ("api_key", "POST /v1/keys", made["id"], "ok"),
        ]
        assert "emma" not in str(acts)


async def test_paths_that_tell_nothing_ask_for_nothing() -> None:
    async with service(auth_mode="required") as client:
        for path in ("/healthz", "/health", "/readyz", "/openapi.json"):
            assert (await client.get(path)).status_code in {200, 503}
        assert (await client.get("/v1/memories")).status_code == 401
