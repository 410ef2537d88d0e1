"""Our Lua scripts, each with the scripts of BullMQ that it calls, so that all it does is one step for everybody else.

Redis lets no script call another one. So the text of each of BullMQ's scripts becomes a function of a longer text, and
is called with the keys and arguments that its first lines describe. The texts are those of the installed package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import bullmq
from bullmq.redis_connection import loadScript

from ebbing.adapters.redis.connection import Script
from ebbing.domain.errors import ConfigurationError

BULLMQ_VERSION: Final[str] = bullmq.__version__
_FOLDER: Final = Path(__file__).with_name("lua")
_FINISH: Final = ("moveToFinished-14",)
_REMOVE: Final = ("removeJob-2",)
_GIVE_BACK: Final = ("moveJobFromActiveToWait-9",)

_NEEDED: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "add": (("addStandardJob-9", "addDelayedJob-6"), ()),
    "claim": (("moveToActive-11", "moveStalledJobsToWait-9", *_FINISH), ("shared_finish",)),
    "renew": (("extendLock-2", "updateProgress-3"), ()),
    "complete": (_FINISH, ("shared_finish",)),
    "fail": ((*_FINISH, "moveToDelayed-11"), ("shared_finish",)),
    "release": ((*_REMOVE, *_GIVE_BACK), ("shared_remove", "shared_give_back")),
    "requeue": (("reprocessJob-9",), ()),
    "get": ((), ()),
    "page": ((), ()),
    "ended": ((), ()),
    "counts": ((), ()),
    "states": ((), ()),
    "forget": (_REMOVE, ("shared_remove",)),
    "forget_tenant": (_REMOVE, ("shared_remove",)),
    "drop_done": (_REMOVE, ("shared_remove",)),
    "of_owner": ((), ()),
    "hand_over": ((*_REMOVE, *_GIVE_BACK), ("shared_remove", "shared_give_back")),
}
"""By name, the scripts of BullMQ and the parts of ours that each needs. A number says how many keys a script takes."""


@cache
def loaded_scripts() -> Mapping[str, Script]:
    """Return our scripts by their names.

    Raises:
        ConfigurationError: the installed `bullmq` has other scripts than those that ours call.
    """
    try:
        return {name: Script(_text(name)) for name in _NEEDED}
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"bullmq {BULLMQ_VERSION} has other scripts than this Ebbing knows: pip install 'ebbing[bullmq]'"
        ) from error


def _text(name: str) -> str:
    of_bullmq, parts = _NEEDED[name]
    ours = [_FOLDER.joinpath(f"{part}.lua").read_text("utf-8") for part in ("shared", *parts, name)]
    return "\n".join([*map(_function, of_bullmq), *ours])


def _function(script: str) -> str:
    """Return one of BullMQ's scripts as a function that is named as the script is."""
    name = script.partition("-")[0]
    return f"local function {name}(KEYS, ARGV)\n{loadScript(f'{script}.lua')}\nend"
