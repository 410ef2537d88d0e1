"""Which language model serves, how what is said is read, and the endpoint behind the proxy."""

from __future__ import annotations

from dataclasses import dataclass

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.ports.models.chat_endpoint import ChatEndpoint
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.query_rewriter import QueryRewriter
from ebbing.remember.llm.client import LlmOptions
from ebbing.wiring.config.settings import Settings

# The endpoint that the proxy passes chats on to.


def chat_endpoint(settings: Settings) -> ChatEndpoint | None:
    """Return the endpoint of the settings; None where they name none.

    Raises:
        ConfigurationError: the address is not a URL.
        MissingExtraError: the packages of the extra `server` are not installed.
    """
    if not settings.proxy_url:
        return None
    try:
        from ebbing.adapters.http.chat_endpoint_http import HttpChatEndpoint
    except ImportError as error:
        raise MissingExtraError("the proxy needs httpx: pip install 'ebbing[server]'") from error
    return HttpChatEndpoint(settings.proxy_url)


# Which language model serves, if any, and how what is said is read.

_NEEDS_MODEL = {"llm", "summarize", "structured"}


@dataclass(frozen=True, slots=True)
class Chat:
    """The language model of one memory, with what is asked of it. It connects at the first call."""

    mode: WriteMode
    asking: LlmOptions | None = None
    rewriter: QueryRewriter | None = None
    """Makes questions stand alone; there is one wherever there is a model."""
    note: str = ""
    """What serves, for `doctor`."""

    async def aclose(self) -> None:
        """Let go of connections."""
        if self.asking is not None:
            await self.asking.model.aclose()


def chat_of(settings: Settings, *, model: ChatModel | None = None) -> Chat:
    """Return what the settings ask for; `model` stands in for the endpoint that they name.

    Raises:
        ConfigurationError: the endpoint has no model, or the write mode needs one.
        MissingExtraError: the packages of the extra `llm` are not installed.
    """
    if settings.llm_base_url and not settings.llm_model and model is None:
        raise ConfigurationError("set EBBING_LLM_MODEL beside EBBING_LLM_BASE_URL")
    if model is None and settings.llm_base_url is None:
        if settings.write_mode in _NEEDS_MODEL:
            raise ConfigurationError(
                f"write_mode {settings.write_mode!r} needs a language model: set EBBING_LLM_BASE_URL and "
                "EBBING_LLM_MODEL, or take 'rules'"
            )
        mode = WriteMode.RULES if settings.write_mode == "auto" else WriteMode(settings.write_mode)
        return Chat(mode, note="no language model: facts are read by rules")
    mode = WriteMode.LLM if settings.write_mode == "auto" else WriteMode(settings.write_mode)
    chat_model = model or _endpoint(settings)
    asking = LlmOptions(
        chat_model,
        fact_prompt=settings.custom_fact_extraction_prompt,
        update_prompt=settings.custom_update_memory_prompt,
        timeout_seconds=settings.llm_timeout_seconds,
        budget_seconds=settings.llm_budget_seconds,
        chunk_tokens=settings.llm_chunk_tokens,
        max_tokens=settings.llm_max_tokens,
    )
    return Chat(mode, asking, _rewriter(chat_model), note=f"{chat_model.model_id}, write mode {mode}")


def _endpoint(settings: Settings) -> ChatModel:
    try:
        from ebbing.adapters.chat.openai_chat import OpenAIChatModel
    except ImportError as error:
        raise MissingExtraError(
            "a language model needs packages that are not installed: pip install 'ebbing[llm]'"
        ) from error
    key = settings.llm_api_key
    return OpenAIChatModel(
        settings.llm_base_url or "",
        settings.llm_model or "",
        api_key=key.get_secret_value() if key else None,
        profile=settings.llm_profile,
        timeout_seconds=settings.llm_timeout_seconds,
    )


def _rewriter(model: ChatModel) -> QueryRewriter:
    from ebbing.adapters.chat.chat_rewriter import ChatQueryRewriter

    return ChatQueryRewriter(model)
