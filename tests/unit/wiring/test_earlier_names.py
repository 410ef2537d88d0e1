"""Deployments that were set up under the names of earlier hosts go on, or are told what takes a name's place."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from ebbing import AsyncMemory
from ebbing.client.service import HostPolicy, MemoryService
from ebbing.client.store import NullStore
from ebbing.domain.errors import ConfigurationError
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.config.client_settings import host_settings
from ebbing.wiring.config.earlier_names import HOST_NAMES, SAME_MEANING, SUPERSEDED, superseded_names
from ebbing.wiring.config.settings import Settings
from tests.docs.pages import REPOSITORY

SAMPLES = {
    "http_port": ("8831", 8831),
    "strict_embeddings": ("true", True),
    "embedding_dim": ("512", 512),
    "expire_by_type": ("true", True),
    "write_mode": ("rules", "rules"),
    "write_confidence_threshold": ("0.5", 0.5),
    "log_level": ("DEBUG", "debug"),
}


def plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


@pytest.mark.parametrize(("name", "setting"), SAME_MEANING.items())
def test_each_earlier_name_sets_what_it_set_before(name: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written, meant = SAMPLES.get(setting, ("a-value", "a-value"))
    monkeypatch.setenv(name, written)
    assert plain(getattr(load_settings(), setting)) == meant
    assert setting in Settings.model_fields


def test_a_name_of_our_own_wins_over_an_earlier_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_SERVICE_PORT", "8831")
    monkeypatch.setenv("EBBING_HTTP_PORT", "8832")
    assert load_settings().http_port == 8832
    assert load_settings({"http_port": 8833}).http_port == 8833


def test_a_key_under_its_earlier_name_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_API_KEY", "a-secret-of-twenty-characters")
    assert plain(load_settings().service_api_key) == "a-secret-of-twenty-characters"


def test_the_mode_of_tokens_accepts_tokens_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_AUTH_MODE", "jwt")
    monkeypatch.setenv("MEM0_API_KEY", "a-secret-of-twenty-characters")
    settings = load_settings()
    assert settings.auth_mode == "required"
    assert (settings.service_api_key, plain(settings.jwt_key)) == (None, "a-secret-of-twenty-characters")
    monkeypatch.setenv("MEM0_JWT_SECRET", "the-secret-of-the-tokens")
    assert plain(load_settings().jwt_key) == "the-secret-of-the-tokens"


def test_an_endpoint_for_embeddings_is_used_once_address_and_model_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert load_settings().embedder == "auto"
    monkeypatch.setenv("MEM0_OPENAI_EMBEDDINGS_MODEL", "text-embedding-v3")
    assert load_settings().embedder == "openai"
    monkeypatch.setenv("MEM0_VECTOR_BACKEND", "none")
    assert load_settings().embedder == "none"


def test_an_empty_value_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*SAME_MEANING, *SUPERSEDED, "MEM0_AUTH_MODE", "MEM0_VECTOR_BACKEND"):
        monkeypatch.setenv(name, " ")
    assert load_settings() == Settings()
    assert superseded_names() == []


def test_the_log_level_of_another_program_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "TRACE")
    assert load_settings().log_level == "info"


def test_a_wrong_value_under_an_earlier_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_SERVICE_PORT", "eighty")
    with pytest.raises(ConfigurationError, match="http_port"):
        load_settings()


@pytest.mark.parametrize("name", SUPERSEDED)
def test_a_name_without_a_setting_says_what_takes_its_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "postgresql://somewhere:secret@host/db")
    [sentence] = superseded_names()
    assert sentence.startswith(f"{name} has no effect: ")
    assert "secret" not in sentence


@pytest.mark.anyio
async def test_the_doctor_shows_what_takes_the_place_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_VECTOR_BACKEND", "milvus")
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        findings = (await memory.maintenance.diagnose())["findings"]
    assert any("MEM0_VECTOR_BACKEND has no effect" in finding["detail"] for finding in findings)


@pytest.mark.anyio
async def test_a_host_whose_recall_is_switched_off_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answering(NullStore):
        async def recall(self, query: str, *, user_id: str, **where: object) -> list[object]:  # type: ignore[override]
            raise AssertionError("nothing may be asked")

    monkeypatch.setenv("MEMORY_ENABLE", "false")
    policy = HostPolicy(recall=host_settings().recall_enable)
    assert await MemoryService(Answering(), policy).recall_context("emma", "what may I eat?") is None


def test_every_earlier_name_stands_in_the_documentation() -> None:
    page = (REPOSITORY / "docs" / "earlier-names.md").read_text("utf-8")
    names = {*SAME_MEANING, *SUPERSEDED, *HOST_NAMES, "MEM0_AUTH_MODE", "MEM0_VECTOR_BACKEND"}
    assert {name for name in names - {"MEMORY_RECALL_TIMEOUT_S"} if f"`{name}`" not in page} == set()
