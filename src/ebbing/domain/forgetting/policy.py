"""The policy of maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ebbing.domain.bounds import require_between
from ebbing.domain.forgetting.curves import POWER_LAW, Curve


@dataclass(frozen=True, slots=True)
class UpkeepPolicy:
    """One set of numbers for all owners.

    Raises:
        ConfigurationError: a number is out of its bounds.
    """

    curve: Curve = POWER_LAW
    """How well a memory is remembered after some time."""
    grace_days: float = 30.0
    """How long what was forgotten can be brought back before it is erased for good, from 0 to 3,650."""
    undo_days: float = 30.0
    """How long a change can be undone, from 0 to 3,650."""
    ttl_on: bool = False
    """Whether memories run out after the time that their type allows."""
    owner_text_limit_bytes: int = 30_720
    """UTF-8 bytes of text of one owner that may be read; 0 for no limit, at most 1 GiB. Beyond it the least valuable is
    shortened."""
    importance: Literal["measured", "formula-v1"] = "measured"
    """How memories are weighed against each other: by what their texts hold, or by the formula of the first design."""
    merge_min_records: int = 2
    """How many records must say the same for one to tell it for all, 2 to 1,000."""
    merge_held_similarity: float = 0.5
    """Calibrated similarity, in [0, 1], from which a text that holds all words of another may tell it."""
    merge_similarity: float = 0.85
    """Calibrated similarity, in [0, 1], from which one of two long texts that share most of their words may."""
    summary_min_records: int = 20
    """So many memories of what happened may be in no summary; of more, one is made. 2 to 100,000."""
    habit_min_days: int = 3
    """On how many days something must be done to be told as done often, 2 to 100."""
    concrete_days: float = 7.0
    """How long a single occasion stays in the answers beside the habit that counts it, 0 to 3,650."""
    llm_timeout_seconds: float = 30.0
    """How long one call of a language model may take, above 0, at most 600."""

    embedding_seconds: float = 30.0
    """How long the embedder may take for some 16,000 characters, above 0, at most 3,600."""

    def __post_init__(self) -> None:
        require_between("upkeep: owner_text_limit_bytes", self.owner_text_limit_bytes, least=0, most=2**30)
        require_between("upkeep: grace_days", self.grace_days, least=0, most=3_650)
        require_between("upkeep: undo_days", self.undo_days, least=0, most=3_650)
        require_between("upkeep: merge_min_records", self.merge_min_records, least=2, most=1_000)
        require_between("upkeep: merge_held_similarity", self.merge_held_similarity, least=0, most=1)
        require_between("upkeep: merge_similarity", self.merge_similarity, least=0, most=1)
        require_between("upkeep: summary_min_records", self.summary_min_records, least=2, most=100_000)
        require_between("upkeep: habit_min_days", self.habit_min_days, least=2, most=100)
        require_between("upkeep: concrete_days", self.concrete_days, least=0, most=3_650)
        require_between("upkeep: llm_timeout_seconds", self.llm_timeout_seconds, least=0.001, most=600)
        require_between("upkeep: embedding_seconds", self.embedding_seconds, least=0.001, most=3_600)
