"""Gets the usual patterns of the way in ready, off the event loop: a third of a second of CPU for a language, once."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import anyio.to_thread

from ebbing.domain.memory.message import Message
from ebbing.language.claims.claims import claim_of
from ebbing.language.text.detect_language import detect
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.privacy.guarding.trust import instruction_shaped
from ebbing.privacy.redaction.redact import redact
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.facts.new_fact import hints_from_fact

SAMPLES: Final[Mapping[str, str]] = {
    "en": "I moved to Leeds last May, mail me: a@b.example.",
    "zh": "我喜欢茶，上周三搬到上海了。",
}
"""By language, a text that needs what most texts need."""
_SCREENING: Final = ""
"""Stands among the languages for the patterns that look at texts of any."""
_DONE: Final[set[str]] = set()
_LOCK: Final = threading.Lock()


async def warm_up_patterns(texts: Iterable[str] = SAMPLES.values(), *, reading: bool) -> None:
    """Compile the patterns of redaction, and with `reading` those that read facts from texts.

    The others of a language are compiled one by one, when they are first asked.
    """
    if len(_DONE) > len(SAMPLES) or (not reading and _SCREENING in _DONE):
        return
    languages = {_SCREENING, *(map(detect, texts) if reading else ())} & {_SCREENING, *SAMPLES}
    if not languages <= _DONE:
        await anyio.to_thread.run_sync(_compile, languages)


def _compile(languages: Collection[str]) -> None:
    with _LOCK:  # callers that come together wait for one of them: each for itself, they would be in each other's way
        for language in sorted({*languages} - _DONE):
            if language == _SCREENING:
                every = " ".join(SAMPLES.values())
                redact(strip_recalled(every))
                instruction_shaped(every)
            else:
                for fact in extract([Message(SAMPLES[language])], now=datetime(2024, 1, 1, tzinfo=UTC)):
                    claim_of(fact.text, hints_from_fact(fact, None))
            _DONE.add(language)
