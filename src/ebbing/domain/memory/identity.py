"""The names under which one person comes, and the persons that turned out to be one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

MERGE_GRACE: Final = timedelta(hours=1)
"""So long after a merge, what is still written under the old name goes where its memories went: it was on its way."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One name of a person in one channel."""

    channel: str
    """Where they come from: `web`, `wechat`, `slack` …"""
    channel_user_id: str
    """What they are called there."""
    unified_id: str
    """Whose memory it is: the `user_id` of every call about them."""
    is_primary: bool
    """It was their first."""
    linked_at: datetime


@dataclass(frozen=True, slots=True)
class Merge:
    """Two persons made one."""

    id: int
    target: str
    """Unified id of the one who stays."""
    gone: str
    """Unified id of the one whose memories moved."""
    at: datetime
    memories: int
    """How many moved."""
    episodes: int
    undone_at: datetime | None = None
