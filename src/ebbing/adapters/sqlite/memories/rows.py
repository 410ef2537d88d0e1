"""How the rows of an owner are numbered in the file, whose rows a statement may see, and how it writes times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ebbing.domain.memory.scope import Scope

SEQ_BITS: Final = 24
MAX_SEQ: Final = (1 << SEQ_BITS) - 1
"""Rows that one owner can ever have, erased ones included."""
# `+no` has no type affinity; with one, SQLite would not use the index on `mid >> 24`.
OF_OWNER: Final = "mid >> 24 = (SELECT +no FROM owner WHERE tenant = :tenant AND kind = :owner_kind AND name = :name)"
COVERED: Final = "(:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"


def first_mid(owner_no: int) -> int:
    """The lower bound of an owner's rows; no row has this number."""
    return owner_no << SEQ_BITS


def last_mid(owner_no: int) -> int:
    """The largest number that a row of this owner can have."""
    return owner_no << SEQ_BITS | MAX_SEQ


def utc_text(value: datetime) -> str:
    """ISO 8601 in UTC, as people and other programs read it in the history."""
    return value.astimezone(UTC).isoformat()


def scope_values(scope: Scope) -> dict[str, str | None]:
    """The values of `OF_OWNER` and `COVERED`."""
    owner = scope.owner
    return {
        "tenant": owner.tenant,
        "owner_kind": owner.kind,
        "name": owner.name,
        "agent": scope.agent_id,
        "run": scope.run_id,
    }
