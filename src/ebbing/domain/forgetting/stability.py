"""The stability of FSRS-6: a use makes a memory last longer, a correction shortens it.

FSRS-6 is the scheduler of spaced repetition fitted on some 700 million reviews. Of its 21 default weights these are
the ones that speak of stability after a review; the difficulty, which it works out from grades, is fixed here, because
nobody grades a memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Final

from ebbing.domain.bounds import require_between

_BOUNDS: Final = {
    "difficulty": (1.0, 10.0),
    "gain": (0.0, 4.5),
    "saturation": (0.0, 0.8),
    "spacing": (0.001, 3.5),
    "lapse_scale": (0.001, 5.0),
    "lapse_difficulty": (0.001, 0.25),
    "lapse_stability": (0.001, 0.9),
    "lapse_forgotten": (0.0, 4.0),
    "same_day": (0.0, 2.0),
    "same_day_offset": (0.0, 2.0),
    "same_day_saturation": (0.0, 0.8),
}
"""The bounds that FSRS-6 itself sets to its weights."""


@dataclass(frozen=True, slots=True)
class SpacedUse:
    """The weights of FSRS-6 under names: w8 to w10, w11 to w14, w17 to w19.

    Raises:
        ConfigurationError: a weight is outside the bounds of FSRS-6.
    """

    difficulty: float = 5.0
    """1 is easy, 10 hard; the middle of the range."""
    gain: float = 1.8722
    saturation: float = 0.1666
    """What lasts long already gains less."""
    spacing: float = 0.796
    """How much more a use is worth that comes late, when much was forgotten."""
    lapse_scale: float = 1.4835
    lapse_difficulty: float = 0.0614
    lapse_stability: float = 0.2629
    lapse_forgotten: float = 1.6483
    same_day: float = 0.5425
    same_day_offset: float = 0.0912
    same_day_saturation: float = 0.0658

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            require_between(f"forgetting: {name}", getattr(self, name), least=least, most=most)

    def after_use(self, stability_days: float, *, idle_days: float, remembered: float) -> float:
        """Return the stability after a use: S · (1 + e^gain · (11 − D) · S^−saturation · (e^(spacing · (1 − R)) − 1)).

        A use within a day of the last one counts for little: S · max(1, e^(w17 · w18) · S^−w19). Never smaller than
        before. `remembered` is R, the retention in [0, 1] at that moment.
        """
        if idle_days < 1:
            again = exp(self.same_day * self.same_day_offset) * stability_days**-self.same_day_saturation
            return float(stability_days * max(1.0, again))
        late = exp(self.spacing * (1 - remembered)) - 1
        gained = exp(self.gain) * (11 - self.difficulty) * stability_days**-self.saturation * late
        return float(stability_days * (1 + gained))

    def after_lapse(self, stability_days: float, *, remembered: float) -> float:
        """Return the stability after a lapse: w11 · D^−w12 · ((S + 1)^w13 − 1) · e^(w14 · (1 − R)).

        At most S / e^(w17 · w18), so that it is always smaller than before.
        """
        shrunk = (
            self.lapse_scale
            * self.difficulty**-self.lapse_difficulty
            * ((stability_days + 1) ** self.lapse_stability - 1)
            * exp(self.lapse_forgotten * (1 - remembered))
        )
        return float(min(shrunk, stability_days / exp(self.same_day * self.same_day_offset)))


FSRS: Final = SpacedUse()
