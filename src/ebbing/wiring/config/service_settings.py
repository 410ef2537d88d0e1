"""The settings of the HTTP service."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class ServiceSettings(BaseSettings):
    """What can be set about `ebbing serve`; part of `Settings`."""

    http_host: str = Field(
        default="127.0.0.1", description="Address that the service listens on; others than loopback need auth."
    )
    http_port: int = Field(default=8830, ge=0, le=65_535, description="Its port; 0 takes any free one.")
    http_allowed_hosts: str | None = Field(
        default=None, description="Names, comma-separated, by which a service without auth may be called."
    )
    http_cors_origins: str | None = Field(
        default=None, description="Origins, comma-separated, whose pages may call the service from a browser."
    )
    http_max_body_kib: int = Field(default=1_024, ge=1, le=1_048_576, description="Largest body of a request.")
    http_max_import_mib: int = Field(default=1_024, ge=1, le=1_048_576, description="Largest body of an import.")
    http_rate_per_minute: int = Field(
        default=0, ge=0, le=10_000_000, description="Requests a minute of one credential; 0 limits nothing."
    )
    http_concurrency: int = Field(default=256, ge=1, le=65_536, description="Requests that are answered at once.")
    http_shutdown_timeout_seconds: int = Field(
        default=20, ge=0, le=3_600, description="How long a service that is stopped waits for requests under way."
    )
    console: bool = Field(default=True, description="The service shows the console, a page for people, at its address.")
    mcp_tools: Literal["minimal", "default", "full"] = Field(
        default="default", description="Tools of the MCP server: two, the usual five, or every one."
    )
    auth_mode: Literal["auto", "required"] = Field(
        default="auto", description="`auto` asks for credentials as soon as any are set up; `required` always does."
    )
    service_api_key: SecretStr | None = Field(default=None, description="One key with every right in the tenant.")
    jwt_key: SecretStr | None = Field(
        default=None, description="Secret (HS…) or public key in PEM (RS…, ES…, EdDSA) that tokens are checked with."
    )
    jwt_algorithms: str = Field(default="HS256", description="Algorithms, comma-separated, that a token may use.")
    jwt_audience: str | None = Field(default=None, description="Audience that a token must be for.")
    jwt_issuer: str | None = Field(default=None, description="Issuer that a token must be from.")
    jwt_tenant_claim: str | None = Field(default=None, description="Claim that names the tenant; must then be there.")
    jwt_role_claim: str | None = Field(
        default=None, description="Claim that says `read`, `write` or `admin`; `write` without this setting."
    )
    trusted_header: str | None = Field(
        default=None, description="Header in which a trusted proxy names the user, such as `x-user-id`."
    )
    trusted_proxies: str | None = Field(
        default=None, description="Addresses or networks, comma-separated, that it is believed from beside loopback."
    )
    proxy_url: str | None = Field(
        default=None,
        repr=False,
        description="OpenAI-compatible endpoint that /v1/chat/completions passes chats on to.",
    )
    proxy_api_key: SecretStr | None = Field(default=None, description="Key for that endpoint.")
    proxy_recall_timeout_ms: int = Field(
        default=1_000, ge=1, le=60_000, description="How long a chat waits for its memories, in milliseconds."
    )
    proxy_agent: Literal["personal", "general", "tool"] = Field(
        default="personal",
        description="`personal` puts in whatever fits, `general` what surely answers, `tool` nothing.",
    )
    proxy_max_body_mib: int = Field(default=32, ge=1, le=1_024, description="Largest body of a chat, in MiB.")
    webhook_private_targets: bool = Field(
        default=False, description="Webhooks may go to http addresses, and to this machine and private networks."
    )
    worker: bool = Field(default=True, description="The service has the upkeep's jobs done beside its requests.")
    worker_process: bool = Field(
        default=True, description="In a process of its own, so that no request waits for them; else in the service's."
    )
