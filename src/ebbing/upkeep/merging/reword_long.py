"""A shorter wording for what several long texts say, by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ebbing.language.wording.paraphrase import Gist
from ebbing.upkeep.merging.checked_rewrite import ask_llm_to_rewrite, keeps_numbers
from ebbing.upkeep.merging.merge_records import MergeResult
from ebbing.upkeep.merging.mergeable import size_of
from ebbing.upkeep.step import StepContext

LONG_ENOUGH: Final = 3
"""Records that must say a thing before a model is asked to word it."""
MAX_CHARACTERS: Final = 50
MAX_WORDS: Final = 30
"""What a merged memory should have at most: Chinese characters, or words of another script."""
MAX_ASKED: Final = 20
"""Calls of the model in one run for one owner."""


def is_long(text: str) -> bool:
    """Whether a text is longer than a merged memory should be."""
    if any("\u3400" <= char <= "\u9fff" for char in text):
        return len(text) > MAX_CHARACTERS
    return len(text.split()) > MAX_WORDS


async def reword_long(deps: StepContext, made: Sequence[MergeResult]) -> list[MergeResult]:
    """The same, with a short wording where a model finds one for what was said three times or more at length."""
    long_results = [result for result in made if len(result.behind) >= LONG_ENOUGH and is_long(result.record.content)][
        :MAX_ASKED
    ]
    if deps.asking is None or not long_results:
        return list(made)
    return [await _short(deps, result) if result in long_results else result for result in made]


async def _short(deps: StepContext, made: MergeResult) -> MergeResult:
    record = made.record

    def fits(text: str, notes: Sequence[Gist]) -> bool:
        return not is_long(text) and size_of(text) < size_of(record.content) and keeps_numbers(text, notes)

    assert deps.asking is not None
    texts = dict.fromkeys((record.content, *(source.content for source in made.behind)))
    rewrite = await ask_llm_to_rewrite(
        deps.asking,
        "merge",
        notes=[{"text": text} for text in texts],
        fits=fits,
        timeout_seconds=deps.policy.llm_timeout_seconds,
    )
    if rewrite is None:
        return made
    provenance = replace(record.provenance, method="merge", rule=rewrite.rule, source_text=None)
    return replace(made, record=replace(record, content=rewrite.text, provenance=provenance))
