"""Configs written for mem0: keys from the providers' own variables, and nothing replaced in silence."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr

from ebbing.adapters.vectors.pgvector import PgvectorIndex
from ebbing.domain.errors import ConfigurationError, EbbingError, EmbeddingError, ModelUnavailableError
from ebbing.memory import AsyncMemory
from ebbing.sync import Memory
from ebbing.wiring.build import settings_from_config
from ebbing.wiring.components.vectors import _OPENED

QUIET: dict[str, Any] = {"store": "ephemeral", "embedder": "none"}


def secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("deepseek", "DEEPSEEK_API_KEY"),
        ("dashscope", "DASHSCOPE_API_KEY"),
        ("glm", "ZHIPUAI_API_KEY"),
        ("zhipuai", "ZHIPUAI_API_KEY"),
        ("groq", "GROQ_API_KEY"),
        ("together", "TOGETHER_API_KEY"),
        ("xai", "XAI_API_KEY"),
        ("moonshot", "MOONSHOT_API_KEY"),
    ],
)
def test_a_language_models_key_comes_from_its_providers_variable_or_is_asked_for(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"llm": {"provider": provider, "config": {"model": "m"}}}
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigurationError, match=variable):
        settings_from_config(config)
    monkeypatch.setenv(variable, "sk-from-the-environment")
    assert secret(settings_from_config(config).llm_api_key) == "sk-from-the-environment"
    config["llm"]["config"]["api_key"] = "sk-from-the-config"  # type: ignore[index]
    assert secret(settings_from_config(config).llm_api_key) == "sk-from-the-config"


def test_the_address_of_openai_comes_from_its_variable_and_asks_for_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    section = {"provider": "openai", "config": {"model": "m"}}
    settings = settings_from_config({"llm": section, "embedder": section})
    assert settings.llm_base_url == settings.embedding_base_url == "http://127.0.0.1:9/v1"
    assert settings.strict_embeddings
    assert settings.strict_extraction


@pytest.mark.parametrize(("section", "variable"), [("embedder", "OPENAI_API_KEY"), ("reranker", "CO_API_KEY")])
def test_a_missing_key_of_an_embedder_or_reranker_is_named(section: str, variable: str) -> None:
    provider = {"embedder": "openai", "reranker": "cohere"}[section]
    with pytest.raises(ConfigurationError, match=variable):
        settings_from_config({section: {"provider": provider, "config": {"model": "m"}}})


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"vector_store": {"provider": "qdrant", "config": {"path": "local-qdrant"}}}, "'qdrant'"),
        ({"vector_store": {"provider": "chroma", "config": {}}}, "'chroma'"),
        ({"embedder": {"provider": "huggingface", "config": {"model": "m"}}}, "'huggingface'"),
        ({"reranker": {"provider": "sentence_transformer", "config": {"model": "m"}}}, "'sentence_transformer'"),
        ({"graph_store": {"provider": "neo4j", "config": {}}}, "'neo4j'"),
    ],
)
@pytest.mark.anyio
async def test_what_is_not_here_is_replaced_with_a_warning_that_diagnose_repeats(
    config: dict[str, Any], named: str, caplog: pytest.LogCaptureFixture
) -> None:
    quiet = QUIET if "embedder" not in config else {"store": "ephemeral"}
    with caplog.at_level(logging.WARNING, logger="ebbing.settings"):
        settings = settings_from_config({**quiet, **config})
    [said] = settings.replaced
    assert named in said
    assert said in caplog.text
    if "embedder" not in config:
        async with AsyncMemory.from_config({**quiet, **config}) as memory:
            findings = (await memory.maintenance.diagnose())["findings"]
        assert {"part": "settings", "state": "attention", "detail": said} in findings


@pytest.mark.parametrize(
    ("provider", "config", "url"),
    [
        ("qdrant", {"host": "localhost", "port": 7000}, "http://localhost:7000"),
        ("qdrant", {"host": "localhost", "port": 7000, "https": True}, "https://localhost:7000"),
        ("qdrant", {"host": "q", "port": 7000, "api_key": "k"}, "https://q:7000"),
        ("qdrant", {"host": "q", "port": 7000, "api_key": "k", "https": False}, "http://q:7000"),
        ("qdrant", {"host": "::1", "port": 7000}, "http://[::1]:7000"),
        ("qdrant", {"url": "https://q.example", "api_key": "k"}, "https://q.example"),
        ("qdrant", {"url": "http://q.example", "https": True}, "http://q.example"),
        ("qdrant", {"url": "q.example:7000", "https": True}, "https://q.example:7000"),
        ("milvus", {"url": "http://localhost:19530", "token": "k"}, "http://localhost:19530"),
        ("milvus", {"url": "http://localhost:19530", "db_name": "house"}, "http://localhost:19530/house"),
        ("milvus", {"url": "http://localhost:19530/a", "db_name": "house"}, "http://localhost:19530/house"),
        ("pgvector", {"user": "a", "password": "p@ss", "host": "db", "dbname": "m"}, "postgresql://a:p%40ss@db:5432/m"),
        ("pgvector", {"connection_string": "postgresql://x/y"}, "postgresql://x/y"),
        ("pgvector", {"user": "a", "host": "::1", "dbname": "a b"}, "postgresql://a@[::1]:5432/a%20b"),
        ("pgvector", {"user": "a", "host": "/tmp"}, "postgresql://a@%2Ftmp:5432/postgres"),
        (
            "pgvector",
            {"user": "a", "host": "db", "sslmode": "require"},
            "postgresql://a@db:5432/postgres?sslmode=require",
        ),
    ],
)
def test_a_vector_store_of_mem0_selects_the_index(provider: str, config: dict[str, Any], url: str) -> None:
    section = {"provider": provider, "config": {**config, "collection_name": "mem0"}}
    settings = settings_from_config({**QUIET, "vector_store": section})
    assert settings.replaced == ()
    assert (settings.vector_index, settings.vector_index_url) == (provider, url)
    assert settings.vector_index_collection == "mem0"
    key = settings.vector_index_api_key
    assert (key.get_secret_value() if key else None) == (config.get("api_key") or config.get("token"))


TLS = "verify-full"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:pw@db/m",
        "postgresql+psycopg://ada:pw@db/m",
        "postgresql://ada:pw@db/m?sslmode=disable",
        "postgresql://db/m?user=ada&sslmode=disable&password=pw",
        "host=db user=ada password=pw dbname=m sslmode=disable",
    ],
)
def test_the_tls_that_a_config_demands_is_demanded_of_its_connection_string(address: str) -> None:
    config = {"connection_string": address, "sslmode": TLS}
    settings = settings_from_config({**QUIET, "vector_store": {"provider": "pgvector", "config": config}})
    index = _OPENED["pgvector"](settings)
    assert isinstance(index, PgvectorIndex)
    read = conninfo_to_dict(index._url)
    assert read == {"host": "db", "user": "ada", "password": "pw", "dbname": "m", "sslmode": TLS}
    assert settings.replaced == ()


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"connection_string": "postgresql://ada:s3?cret@db/m", "sslmode": TLS}, "%3F"),
        ({"connection_string": "postgresql://ada:s3cret@db/m", "sslmode": "always"}, "verify-full"),
    ],
)
def test_tls_that_cannot_be_demanded_is_refused(config: dict[str, str], what: str) -> None:
    with pytest.raises(ConfigurationError, match=what) as error:
        settings_from_config({**QUIET, "vector_store": {"provider": "pgvector", "config": config}})
    assert "cret" not in str(error.value)


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ({"vector_store": {"provider": "qdrant", "config": {"url": "http://q", "client": object()}}}, "client"),
        (
            {"vector_store": {"provider": "pgvector", "config": {"user": "a", "connection_pool": object()}}},
            "connection_pool",
        ),
        ({"vector_store": {"provider": "milvus", "config": {"url": "http://m", "secure": True}}}, "secure"),
        (
            {
                "graph_store": {
                    "provider": "neo4j",
                    "config": {"url": "neo4j://g", "encrypted": True},
                    "llm": {"provider": "openai"},
                    "custom_prompt": "Only food.",
                }
            },
            "custom_prompt, encrypted, llm",
        ),
    ],
)
def test_an_option_that_is_not_used_is_named_in_a_warning(
    section: dict[str, Any], names: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="ebbing.settings"):
        [sentence] = settings_from_config({**QUIET, **section}).replaced
    assert f": {names} " in sentence
    assert sentence in caplog.text


@pytest.mark.parametrize(
    ("provider", "config"),
    [
        ("qdrant", {"url": "http://q", "path": "/tmp/qdrant", "on_disk": True, "client": None}),
        ("milvus", {"url": "http://m", "metric_type": "L2", "db_name": ""}),
        ("pgvector", {"user": "a", "hnsw": True, "diskann": True, "minconn": 1, "maxconn": 5, "connection_pool": None}),
    ],
)
def test_an_option_that_moves_no_vector_needs_no_warning(provider: str, config: dict[str, Any]) -> None:
    section = {"provider": provider, "config": {**config, "embedding_model_dims": 8}}
    assert settings_from_config({**QUIET, "vector_store": section}).replaced == ()


@pytest.mark.parametrize("store", ["ephemeral", "postgresql://ada:s3cret@db/m"])
def test_a_history_file_that_the_store_cannot_use_is_replaced_with_a_warning(
    store: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="ebbing.settings"):
        settings = settings_from_config({"store": store, "history_db_path": str(tmp_path / "history.db")})
    assert settings.history_path is None
    [sentence] = settings.replaced
    assert "history_db_path" in sentence
    assert sentence in caplog.text
    assert "s3cret" not in caplog.text


def test_a_name_that_no_server_would_take_is_changed() -> None:
    section = {"provider": "qdrant", "config": {"url": "http://q", "collection_name": "1 my-memories"}}
    assert settings_from_config({**QUIET, "vector_store": section}).vector_index_collection == "c1_my_memories"


def test_a_config_of_our_own_warns_of_nothing() -> None:
    settings = settings_from_config({**QUIET, "vector_store": {"provider": "sqlite", "config": {}}})
    assert settings.replaced == ()


def test_a_model_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    llm = {"provider": "openai", "config": {"model": "m"}}
    with Memory.from_config({**QUIET, "llm": llm, "llm_timeout_seconds": 2}) as memory:
        with pytest.raises(ModelUnavailableError):
            memory.add("I am allergic to peanuts.", user_id="ada")
        assert memory.get_all(user_id="ada", include="episodes")["results"], "the words are kept"


def test_an_embedder_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    config = {"model": "m", "openai_base_url": "http://127.0.0.1:9/v1", "embedding_dims": 8}
    embedder = {"provider": "openai", "config": config}
    with Memory.from_config({"path": tmp_path, "embedder": embedder}) as memory:
        with pytest.raises(EmbeddingError):
            memory.add("tea", user_id="ada", infer=False)
        assert isinstance(EmbeddingError("x"), EbbingError)


def test_a_graph_store_with_an_address_selects_the_graph_server() -> None:
    server = {"url": "bolt://graph:7687", "username": "neo4j", "password": "open-sesame"}
    settings = settings_from_config({**QUIET, "graph_store": {"provider": "neo4j", "config": server}})
    assert (settings.graph_url, settings.graph_user, settings.replaced) == ("bolt://graph:7687", "neo4j", ())
    assert settings.graph_password is not None
    assert settings.graph_password.get_secret_value() == "open-sesame"
    assert "open-sesame" not in repr(settings)


@pytest.mark.parametrize(
    ("provider", "config", "url"),
    [
        ("qdrant", {"host": "vectors", "port": 6333}, "http://vectors:6333"),
        ("milvus", {"url": "http://vectors:19530", "token": "ada:secret"}, "http://vectors:19530"),
        (
            "pgvector",
            {"user": "ada", "password": "secret", "host": "db", "port": 5432, "dbname": "memories"},
            "postgresql://ada:secret@db:5432/memories",
        ),
    ],
)
def test_a_whole_config_of_servers_selects_each_of_them(
    provider: str, config: dict[str, Any], url: str, tmp_path: Path
) -> None:
    settings = settings_from_config(
        {
            "path": tmp_path,
            "embedder": "none",
            "vector_store": {"provider": provider, "config": config},
            "graph_store": {"provider": "neo4j", "config": {"url": "neo4j://graph"}},
            "history_db_path": str(tmp_path / "history.db"),
        }
    )
    assert (settings.vector_index, settings.vector_index_url) == (provider, url)
    assert settings.graph_url == "neo4j://graph"
    assert settings.history_path == tmp_path / "history.db"
    assert settings.replaced == ()
    assert "secret" not in repr(settings)
