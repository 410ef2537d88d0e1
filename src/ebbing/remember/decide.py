"""What to do about each fact, given what the owner's memory already holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from ebbing.domain.decision import Add, Decision, Fact, Keep
from ebbing.domain.record import Kind, content_hash
from ebbing.domain.scope import Scope
from ebbing.index.shard import KINDS, Shard, digest, micros


def decide(facts: Sequence[Fact], shard: Shard, *, scope: Scope, now: datetime) -> list[Decision]:
    """One decision a fact, in order; a fact that is already a current memory of the same agent is kept as it is."""
    moment = micros(now)
    current = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY)) & (shard.valid_to > moment)
    if scope.agent_id is not None:
        current &= shard.agent == shard.agents.find(scope.agent_id)
    decisions: list[Decision] = []
    seen: set[int] = set()
    for fact in facts:
        number = digest(content_hash(fact.text))
        if number in seen:
            continue
        seen.add(number)
        known = np.flatnonzero(current & (shard.digest == number))
        if len(known):
            decisions.append(Keep(fact, shard.ids[int(known[0])], "already known in these words"))
        else:
            decisions.append(Add(fact, "nothing known says this"))
    return decisions
