"""Settings and mem0's config become a language model, or a reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from ebbing.adapters.chat.chat_profiles import Form, profile_for
from ebbing.adapters.chat.chat_rewriter import ChatQueryRewriter
from ebbing.domain.errors import ConfigurationError, ModelTimeoutError
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.ports.models.query_rewriter import RewriteRequest
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.wiring.build import settings_from_config
from ebbing.wiring.components.chat import Chat, chat_of


def chat(config: dict[str, Any], model: ScriptedChatModel | None = None) -> Chat:
    return chat_of(settings_from_config(config), model=model)


def test_without_a_model_facts_are_read_by_rules() -> None:
    made = chat({})
    assert (made.mode, made.asking, made.rewriter) == (WriteMode.RULES, None, None)


def test_a_model_that_is_set_is_used_without_further_word() -> None:
    made = chat({"llm_base_url": "http://127.0.0.1:1/v1", "llm_model": "m", "llm_timeout_seconds": 7})
    assert made.mode is WriteMode.LLM
    assert made.asking is not None
    assert (made.asking.model.model_id, made.asking.timeout_seconds) == ("m", 7)
    assert made.rewriter is not None


def test_rules_can_be_wanted_beside_a_model() -> None:
    made = chat({"write_mode": "rules"}, ScriptedChatModel())
    assert made.mode is WriteMode.RULES
    assert made.rewriter is not None


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"llm_base_url": "http://127.0.0.1:1/v1"}, "EBBING_LLM_MODEL"),
        ({"write_mode": "llm"}, "EBBING_LLM_BASE_URL"),
        ({"write_mode": "structured"}, "EBBING_LLM_BASE_URL"),
        ({"llm_base_url": "nonsense", "llm_model": "m"}, "http"),
        ({"llm": {"provider": "anthropic", "config": {"model": "m"}}}, "openai_base_url"),
        ({"llm": {"provider": "openai"}}, "model"),
        ({"llm": "openai"}, "dict"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        chat(config)


@pytest.mark.parametrize(
    ("section", "base", "profile"),
    [
        (
            {"provider": "openai", "config": {"model": "m", "api_key": "k"}},
            "https://api.openai.com/v1",
            "openai",
        ),
        (
            {"provider": "openai", "config": {"model": "m", "openai_base_url": "http://box:9/v1/"}},
            "http://box:9/v1",
            "auto",
        ),
        (
            {"provider": "ollama", "config": {"model": "m", "ollama_base_url": "http://box:11434"}},
            "http://box:11434/v1",
            "auto",
        ),
        ({"provider": "vllm", "config": {"model": "m"}}, "http://localhost:8000/v1", "vllm"),
        (
            {"provider": "lmstudio", "config": {"model": "m", "temperature": 0.1}},
            "http://localhost:1234/v1",
            "auto",
        ),
    ],
)
def test_the_config_of_mem0_names_an_endpoint(section: dict[str, Any], base: str, profile: str) -> None:
    settings = settings_from_config({"llm": section})
    assert (settings.llm_base_url, settings.llm_model, settings.llm_profile) == (base, "m", profile)


def test_the_prompts_of_mem0_reach_the_model() -> None:
    config = {"custom_fact_extraction_prompt": "facts!", "custom_update_memory_prompt": "update!"}
    made = chat(config, ScriptedChatModel())
    assert made.asking is not None
    assert (made.asking.fact_prompt, made.asking.update_prompt) == ("facts!", "update!")


@pytest.mark.parametrize(
    ("url", "name", "form"),
    [
        ("https://open.bigmodel.cn/api/paas/v4", "glm", Form.JSON_OBJECT),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "dashscope", Form.JSON_OBJECT),
        ("https://ai.gitee.com/v1", "gitee", Form.JSON_OBJECT),
        ("https://api.openai.com/v1", "openai", Form.JSON_SCHEMA),
        ("http://127.0.0.1:11434/v1", "ollama", Form.JSON_SCHEMA),
        ("http://127.0.0.1:8000/v1", "plain", Form.JSON_SCHEMA),
        ("https://user:secret@evil.example/api.openai.com", "plain", Form.JSON_SCHEMA),
    ],
)
def test_an_endpoint_is_told_by_its_address(url: str, name: str, form: Form) -> None:
    profile = profile_for(url)
    assert (profile.name, profile.form) == (name, form)


# ── questions that lean on their conversation ────────────────────────────────────────────────────────────────────────

ASKED = RewriteRequest("Ann", "Nova", "And how is she?", "Ann: my sister Jesica is ill\nNova: get well soon!")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answer", ["How is Jesica?", "\n  How is Jesica?  \nBecause she is the sister.", '"How is Jesica?"']
)
async def test_a_question_is_rewritten_on_one_plain_line(answer: str) -> None:
    model = ScriptedChatModel(answer)
    assert await ChatQueryRewriter(model).rewrite(ASKED) == "How is Jesica?"
    assert model.prompts[0][1].content == ASKED.as_json()
    assert model.options[0]["timeout_seconds"] == 3.0


@pytest.mark.anyio
async def test_a_late_rewriter_is_an_error_of_the_model() -> None:
    with pytest.raises(ModelTimeoutError):
        await ChatQueryRewriter(ScriptedChatModel("x", delay=5), timeout_seconds=0.01).rewrite(ASKED)
