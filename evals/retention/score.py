"""How rightly the chance of being needed was told to people whom the fit did not see."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.forgetting.usage_model import DEFAULT_USAGE_MODEL, UsageModel
from ebbing.upkeep.fading.usage_model import fit
from evals.retention.watch import Judged

Numbers = NDArray[np.float64]
CLIPPED: Final = 1e-3
"""A probability nearer to 0 or 1 counts as this near, so that no log loss is infinite. It spares the curves most."""
NOTHING_KNOWN: Final = UsageModel(0.0, 0.0, 0.0, 0.0, 0.0)
"""What a fit for many people is drawn toward …"""
LOOSELY: Final = 0.1
"""… and how firmly."""
PARTS: Final = 10
FITTED: Final = "fitted on the other half"


def fitted_on(judged: Sequence[Judged]) -> UsageModel | None:
    """Coefficients for people like these; None where there is too little to fit on."""
    return fit([item.outcome for item in judged], before=NOTHING_KNOWN, sureness=LOOSELY)


def scored(users: Sequence[Sequence[Judged]], *, seed: int) -> dict[str, Any]:
    """Every way to tell the chance, judged on the unseen half of the users.

    `log loss` in nats, its `ratio` to that of the constant minus 1, and the `Brier` score. The constant is the share
    that was used among the other half.
    """
    mixed = list(range(len(users)))
    Random(seed).shuffle(mixed)
    half = len(mixed) // 2
    seen, unseen = ([item for user in part for item in users[user]] for part in (mixed[:half], mixed[half:]))
    model = fitted_on(seen)
    used, base = _used(unseen), float(_used(seen).mean()) if seen else 0.5
    told = {
        "constant": np.full(used.size, base),
        "exponential curve": np.array([item.said.exponential for item in unseen]),
        "power-law curve": np.array([item.said.power for item in unseen]),
        "usual coefficients": _chances(DEFAULT_USAGE_MODEL, unseen),
        "learned of each user": np.array([item.said.learned for item in unseen]),
    }
    if model is not None:
        told[FITTED] = _chances(model, unseen)
    constant = _log_loss(told["constant"], used)
    return {
        "users": (half, len(mixed) - half),
        "outcomes": (len(seen), len(unseen)),
        "used": (base, float(used.mean())),
        "fitted": None if model is None else model.coefficients,
        "told": {
            name: {
                "log loss": _log_loss(chances, used),
                "ratio": _log_loss(chances, used) / constant - 1,
                "Brier": float(np.mean((chances - used) ** 2)),
            }
            for name, chances in told.items()
        },
        "reliability": _reliability(told[FITTED], used) if model is not None else [],
    }


def unseen_ratio(users: Sequence[Sequence[Judged]], *, seed: int = 1) -> float | None:
    """Log loss of what was fitted on half of the users, on the others, against the constant; minus 1."""
    if not all(users):
        return None
    told = scored(users, seed=seed)["told"]
    return float(told[FITTED]["ratio"]) if FITTED in told else None


def _reliability(chances: Numbers, used: Numbers) -> list[dict[str, float]]:
    """Ten equal parts of the memories, the unlikeliest first: the mean chance told, and the share that was used."""
    parts = np.array_split(np.argsort(chances, kind="stable"), PARTS)
    return [{"told": float(chances[part].mean()), "used": float(used[part].mean())} for part in parts]


def _used(judged: Sequence[Judged]) -> Numbers:
    return np.array([item.outcome.was_used for item in judged], dtype=np.float64)


def _chances(model: UsageModel, judged: Sequence[Judged]) -> Numbers:
    return np.array([model.chance(item.outcome.footing) for item in judged])


def _log_loss(chances: Numbers, used: Numbers) -> float:
    """Mean over the memories, in nats."""
    clipped = np.clip(chances, CLIPPED, 1 - CLIPPED)
    return float(-np.mean(used * np.log(clipped) + (1 - used) * np.log(1 - clipped)))
