"""What is known about endpoints that speak OpenAI's `/chat/completions`, as data.

A profile is a first guess that saves refused requests; what an endpoint does not take is learned by asking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, Self
from urllib.parse import urlsplit

from ebbing.domain.errors import ConfigurationError


class Form(IntEnum):
    """How an endpoint can be bound to JSON, the loosest first."""

    TEXT = 0
    """Only by asking in the prompt."""
    JSON_OBJECT = 1
    """`response_format` of type `json_object`, the form itself in the prompt."""
    JSON_SCHEMA = 2
    """`response_format` of type `json_schema`."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of endpoint."""

    name: str
    form: Form = Form.JSON_SCHEMA
    """The tightest form that it is known to take."""
    hosts: tuple[str, ...] = ()
    """Endings of the host names, with the port where that tells, by which it is recognised."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent with every request: memory needs no thinking aloud, and several models think unless told not to."""
    tokens_field: str = "max_tokens"


PROFILES: Final = (
    Profile("openai", hosts=("api.openai.com",), tokens_field="max_completion_tokens"),
    Profile(
        "glm",
        form=Form.JSON_OBJECT,
        hosts=("open.bigmodel.cn", "api.z.ai"),
        extra={"thinking": {"type": "disabled"}},
    ),
    # json_schema is for a few of its models only.
    Profile(
        "dashscope",
        form=Form.JSON_OBJECT,
        hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        extra={"enable_thinking": False},
    ),
    Profile("gitee", form=Form.JSON_OBJECT, hosts=("ai.gitee.com",)),
    Profile("ollama", hosts=(":11434", "ollama.com"), extra={"reasoning_effort": "none"}),
    Profile("vllm", extra={"chat_template_kwargs": {"enable_thinking": False}}),
    Profile("plain"),
)
_BY_NAME: Final = {profile.name: profile for profile in PROFILES}


def profile_for(base_url: str, name: str = "auto") -> Profile:
    """The profile of this name; for `auto` the one whose host the address names, else `plain`.

    Raises:
        ConfigurationError: no such profile, or the address is none.
    """
    if name != "auto":
        if name not in _BY_NAME:
            raise ConfigurationError(f"llm_profile must be auto or one of {', '.join(_BY_NAME)}")
        return _BY_NAME[name]
    try:
        where = urlsplit(base_url).netloc.rpartition("@")[2].lower()
    except ValueError:  # its words repeat the address
        raise ConfigurationError("the language model's base URL must be a URL such as https://host/v1") from None
    return next((item for item in PROFILES if where.endswith(item.hosts or ("\0",))), _BY_NAME["plain"])


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent to one endpoint and model; begins as its profile says and gives up what is refused."""

    form: Form
    extra: Mapping[str, Any] = field(default_factory=dict)
    tokens_field: str = "max_tokens"
    temperature: bool = True
    _swapped: bool = False
    """The name of the token limit was changed already."""

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """The dialect that a profile expects."""
        return cls(profile.form, profile.extra, profile.tokens_field)

    def easier(self, complaint: str, *, bound: bool) -> Dialect | None:
        """The dialect to try after a request was called malformed; None when there is nothing left to give up.

        Args:
            complaint: the endpoint's answer; if it names a field, that one goes first.
            bound: the request asked for JSON.
        """
        lowered = complaint.lower()
        if not self._swapped and "max_tokens" in lowered and "max_completion_tokens" in lowered:
            other = "max_tokens" if self.tokens_field != "max_tokens" else "max_completion_tokens"
            return replace(self, tokens_field=other, _swapped=True)
        if self.temperature and "temperature" in lowered:
            return replace(self, temperature=False)
        if any(key in lowered for key in self.extra):
            return replace(self, extra={})
        if bound and self.form is not Form.TEXT:
            return replace(self, form=Form(self.form - 1))
        if self.extra:
            return replace(self, extra={})
        return None
