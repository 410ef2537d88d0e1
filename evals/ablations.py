"""What each step of recall is worth: the same run with one setting switched off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ebbing.ports.models.embedder import Embedder
from ebbing.recall.recall_settings import RecallSettings
from evals.recall import Result, Run, measure

STEPS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "keyword leg": {"lexical_weight": 0.0},
    "vector leg": {"dense_weight": 0.0},
    "doubt of words": {"least_trust": 1.0},
    "speaker and date fields": {"speaker_weight": 0.0, "date_weight": 0.0},
    "smoothing over turns": {
        "from_previous_question": 0.0,
        "from_previous": 0.0,
        "from_next_answer": 0.0,
        "from_next": 0.0,
        "diary_previous": 0.0,
        "diary_next": 0.0,
    },
    "feedback terms": {"feedback_weight": 0.0},
    "speaker bonus": {"speaker_bonus": 0.0},
    "instruction bonus": {"instruction_bonus": 0.0},
    "preference bonus": {"preference_bonus": 0.0},
    "date bonus": {"date_bonus": 0.0, "in_time_bonus": 0.0},
    "quotes and names": {"quote_bonus": 0.0, "name_bonus": 0.0},
    "entity neighbours": {"graph_bonus": 0.0},
    "session prior": {"session_prior": 0.0, "diary_session_prior": 0.0},
    "weight of the assistant": {"assistant_weight": 1.0},
    "newer value first": {"newer_depth": 0},
    "duplicate collapse": {"collapse_from": 1_000, "same_similarity": 2.0},
    "cut-off of precise answers": {"precise_gap": 1e9, "precise_meaning": -1.0, "precise_other_language": -1.0},
    "meaning for the words of the other language": {"other_language_weight": 0.0},
}
"""The name of a step, and the settings that switch it off."""
CENTRING = "language centring"
"""A step of the embedder's, not of recall's settings."""


def ablate(run: Run, sets: Sequence[str], *, uncentred: Embedder) -> dict[str, dict[str, Result]]:
    """Results by step and set; `nothing` is the whole. `uncentred` is the embedder without language centring."""
    whole = run.recall_settings or RecallSettings()
    alone = replace(run, baselines=False)
    runs = {step: replace(alone, recall_settings=replace(whole, **changes)) for step, changes in STEPS.items()}
    runs[CENTRING] = replace(alone, embedder=uncentred)
    return {step: {name: measure(changed, name) for name in sets} for step, changed in runs.items()}
