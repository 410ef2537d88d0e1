"""The proxy's settings: what doctor says of them, and what is refused."""

from __future__ import annotations

import pytest

from ebbing import Memory
from ebbing.errors import ConfigurationError
from ebbing.wiring.components.chat import chat_endpoint
from ebbing.wiring.config.settings import Settings


def finding(**settings: str) -> dict[str, str]:
    with Memory.from_config({"store": "ephemeral", "embedder": "none", **settings}) as memory:
        [proxy] = [entry for entry in memory.maintenance.diagnose()["findings"] if entry["part"] == "proxy"]
        return dict(proxy)


def test_doctor_says_how_to_switch_the_proxy_on() -> None:
    assert finding()["state"] == "off"
    assert "EBBING_PROXY_URL" in finding()["detail"]


def test_doctor_shows_where_chats_go_and_no_key() -> None:
    shown = finding(proxy_url="https://user:secret@api.example.org/v1", proxy_api_key="sk-secret")
    assert (shown["state"], "api.example.org" in shown["detail"], "secret" in str(shown)) == ("on", True, False)
    assert "EBBING_PROXY_API_KEY" in finding(proxy_url="http://localhost:11434/v1")["detail"]


@pytest.mark.parametrize("url", ["api.openai.com/v1", "ftp://api.openai.com", "http://", "http://[::1"])
def test_an_address_that_is_none_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ConfigurationError, match="EBBING_PROXY_URL"):
        chat_endpoint(Settings(proxy_url=url))
