"""How memories are looked after: the choices of whoever runs the memory."""

from __future__ import annotations

from dataclasses import dataclass

from ebbing.domain.bounds import require_between
from ebbing.domain.forgetting import POWER_LAW, Curve


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
    ttl_on: bool = False
    """Whether memories run out after the time that their type allows."""
    llm_timeout_seconds: float = 30.0
    """How long one call of a language model may take, above 0, at most 600."""

    def __post_init__(self) -> None:
        require_between("upkeep: grace_days", self.grace_days, least=0, most=3_650)
        require_between("upkeep: llm_timeout_seconds", self.llm_timeout_seconds, least=0.001, most=600)
