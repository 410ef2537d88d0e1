"""Finds the prompt for a purpose in the language of a conversation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

Purpose = Literal[
    "extract_user", "extract_agent", "structured", "summarize", "decide", "decide_form", "rewrite", "merge", "review"
]
LANGUAGES: Final = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told first."""

    text: str
    version: str
    """Names it in the provenance of what it led to, such as `extract_user.zh.1`."""


@lru_cache
def prompt(purpose: Purpose, language: str) -> Prompt:
    """The prompt of this purpose; in English for any language that has none of its own."""
    language = language if language in LANGUAGES else "en"
    first, _, text = (files(__package__) / f"{purpose}.{language}.txt").read_text("utf-8").partition("\n")
    return Prompt(text.strip(), f"{purpose}.{language}.{first.removeprefix('version').strip()}")


def instructed(prompt: Prompt, instructions: str) -> Prompt:
    """Return a prompt with instructions of the tenant at its end; their digest stands in its version."""
    digest = hashlib.blake2b(instructions.encode("utf-8", "replace"), digest_size=4).hexdigest()
    text = f"{prompt.text}\n\nFurther instructions. The form of the answer stays as it is:\n{instructions.strip()}"
    return Prompt(text, f"{prompt.version}.{digest}")


def custom_prompt(purpose: Purpose, text: str) -> Prompt:
    """A prompt of the caller's own; a digest of it stands for its version."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return Prompt(text.strip(), f"{purpose}.custom.{digest}")
