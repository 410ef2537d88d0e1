"""What each step of recall is worth: the same run with one setting switched off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ebbing.recall.tuning import Tuning
from evals.recall import Result, Run, measure

STEPS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "keyword leg": {"lexical_weight": 0.0},
    "vector leg": {"dense_weight": 0.0},
    "z-scores (RRF instead)": {"fusion": "rrf"},
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
    "date bonus": {"date_bonus": 0.0},
    "session prior": {"session_prior": 0.0},
}
"""The name of a step, and the settings that switch it off."""


def ablate(run: Run, sets: Sequence[str]) -> dict[str, dict[str, Result]]:
    """Results by step and set; `nothing` is the whole."""
    whole = run.tuning or Tuning()
    return {
        step: {name: measure(replace(run, baselines=False, tuning=replace(whole, **changes)), name) for name in sets}
        for step, changes in STEPS.items()
    }
