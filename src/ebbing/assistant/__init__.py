"""What an assistant does with recalled memories: put them into a prompt, and let them shape its answer."""

from __future__ import annotations

from ebbing.assistant.inject import format_hits, hits_to_inject, inject, inject_behind_question
from ebbing.assistant.personalise import choose_worker, generation_hints, limits_about, rank_offers, tastes_of

__all__ = [
    "choose_worker",
    "format_hits",
    "generation_hints",
    "hits_to_inject",
    "inject",
    "inject_behind_question",
    "limits_about",
    "rank_offers",
    "tastes_of",
]
