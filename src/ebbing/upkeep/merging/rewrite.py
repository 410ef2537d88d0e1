"""Shorter wordings by a language model, checked against what they stand for."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import anyio

from ebbing.domain.errors import EbbingError
from ebbing.language.text.detect_language import detect
from ebbing.language.wording.paraphrase import Gist, gist_of
from ebbing.ports.models.chat_model import ChatModel, Schema, Turn
from ebbing.privacy.guarding.quote import cut
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.prompts.library import prompt
from ebbing.upkeep.merging.merge_records import MergeResult
from ebbing.upkeep.merging.mergeable import size_of
from ebbing.upkeep.step import StepContext

# What a language model writes in the place of several texts, if it can be trusted with them.

MAX_NOTES: Final = 60
"""Texts that are shown at once."""
MAX_NOTE: Final = 400
"""Characters of each."""
GROUNDED: Final = 0.7
"""Share of what is written that must stand in the texts."""
_MAX_TOKENS: Final = 400
_FORM: Final[Schema] = {
    "title": "told",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A text and what wrote it."""

    text: str
    rule: str | None
    """Model and prompt; None where none was asked."""


async def ask_llm_to_rewrite(
    model: ChatModel,
    purpose: Literal["merge", "review"],
    *,
    notes: Sequence[Mapping[str, str]],
    fits: Callable[[str, Sequence[Gist]], bool],
    timeout_seconds: float,
) -> Rewrite | None:
    """One text for notes (each with a `text`, and a `date` where it matters); None where the model does not answer,
    or with something that no note says or that does not fit.

    Never raises for what the model does.
    """
    shown = [{**note, "text": cut(note["text"], MAX_NOTE)} for note in notes[:MAX_NOTES]]
    instructions = prompt(purpose, detect(" ".join(note["text"] for note in shown)))
    messages = [Turn("system", instructions.text), Turn("user", json.dumps({"notes": shown}, ensure_ascii=False))]
    try:
        with anyio.fail_after(timeout_seconds + 1.0):
            answer = await model.complete(
                messages, schema=_FORM, max_tokens=_MAX_TOKENS, timeout_seconds=timeout_seconds
            )
    except (EbbingError, OSError, TimeoutError) as error:
        _log.warning("the language model wrote nothing: %s", error.code if isinstance(error, EbbingError) else "failed")
        return None
    text = answer.parsed.get("text") if isinstance(answer.parsed, dict) and not answer.truncated else None
    gists = [gist_of(" ".join(note.values())) for note in shown]
    if not isinstance(text, str) or not is_grounded(text, gists) or not fits(text.strip(), gists):
        _log.warning("the language model wrote what the notes do not say, or at too great length: not taken")
        return None
    return Rewrite(text.strip(), f"{model.model_id} {instructions.version}")


def is_grounded(text: str, notes: Sequence[Gist]) -> bool:
    """Whether a text says nothing of its own: every number and name stands in a note, and most of its words do."""
    gist = gist_of(text)
    parts = frozenset[str]().union(*(note.parts for note in notes))
    numbers = frozenset[str]().union(*(note.numbers for note in notes))
    known_names = {part.removeprefix("=") for part in parts} | frozenset[str]().union(*(note.names for note in notes))
    strange = [name for name in gist.names if name not in known_names and f"={name}" not in parts]
    if not gist.units or strange or not gist.numbers <= numbers or instruction_shaped(text) is not None:
        return False
    return len(gist.parts & parts) >= GROUNDED * len(gist.parts)


def keeps_numbers(text: str, notes: Sequence[Gist]) -> bool:
    """Whether a text keeps what all notes agree on that must not be lost: numbers, names, and what turns them."""
    gist = gist_of(text)
    comparisons = (
        (gist.numbers, [note.numbers for note in notes]),
        (gist.names, [note.names for note in notes]),
        (gist.turns, [note.turns for note in notes]),
        (gist.signs, [note.signs for note in notes]),
    )
    return all(frozenset.intersection(*agreed) <= parts for parts, agreed in comparisons)


# A shorter wording for what several long texts say, by a language model.

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
